import type { Client } from '#domain/clients/client.ts';
import type { ModuleRules } from './module/module-rules.ts';
import { requesterInput } from './module/rule-inputs.ts';
import { type BanDeps, findBan } from './requester-policy.ts';
import type { Violation } from './violations.ts';

export interface GrantDeps extends Pick<BanDeps, 'policy'> {
  readonly moduleRules: Pick<ModuleRules, 'judge' | 'replaces'>;
}

/** The grant to decide about. */
export interface JudgedGrant {
  /** Undefined if the client acts for itself. */
  readonly user: { readonly id: string; readonly username: string; readonly canRequestAdmin: boolean } | undefined;
  readonly client: Pick<Client, 'id' | 'kind' | 'name'>;
  readonly scope: readonly string[];
  readonly grantType: string;
  /** Undefined if sessions were not counted. */
  readonly sessionCount?: number | undefined;
}

/** Where a request comes from. */
interface Requester {
  readonly clientAddress: string | undefined;
  readonly userAgent: string | undefined;
}

/**
 * Returns the violations of the rule `authorizationGrant`: the operator's own rule, or otherwise the requester bans.
 * Admin rights and the session limit apply in addition, see `findViolations`.
 */
export async function judgeGrant(
  deps: GrantDeps,
  grant: JudgedGrant,
  { clientAddress, userAgent }: Requester,
): Promise<readonly Violation[]> {
  const setting = findBan(deps, 'authorizationGrant', clientAddress, userAgent);
  if (setting !== undefined) return [{ code: 'requester-banned', setting }];
  const { user, client, scope, grantType, sessionCount } = grant;
  const found = await deps.moduleRules.judge('authorizationGrant', {
    user: user === undefined ? null : { id: user.id, username: user.username, can_request_admin: user.canRequestAdmin },
    client: { id: client.id, name: client.name[''] ?? null, is_static: client.kind === 'static' },
    scope: [...scope],
    grant_type: grantType,
    session_count: sessionCount ?? null,
    requester: requesterInput(clientAddress, userAgent),
  });
  return found.map((violation) => ({ code: 'policy-module', violation }));
}
