import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import {
  newSessionKey,
  type SessionCookie,
  type SessionCredentials,
} from '#domain/browser-sessions/browser-session.ts';
import { renewSessionSql } from '#domain/browser-sessions/renew-session.ts';
import { insertAuthentication } from '#domain/browser-sessions/start-browser-session.ts';
import type { Clock } from '#platform/base/clock.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
import {
  type ConsumeParameters,
  consumeAuthorization,
  consumeParameters,
  type EvidenceParameters,
  evidenceParameters,
  USED_LINK,
  type UsedAuthorization,
} from './consume-authorization.ts';
import { namedMethods } from './named-methods.ts';

export interface Renewal extends UsedAuthorization {
  /** Of a session of the person whose link it is. */
  readonly cookie: SessionCookie;
}

export type RenewalOutcome =
  /** `session`: what the cookie has to hold now; undefined: it stays. */
  | { readonly ok: true; readonly session: SessionCredentials | undefined }
  /** Another request was first, it took too long, or the session has ended. */
  | { readonly ok: false };

/**
 * Ends a sign-in through a provider in a session of the same person. When the provider was asked to have them prove who
 * they are, the session has a fresh authentication then; otherwise the provider may just have remembered them.
 */
export async function renewWithUpstream(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  renewal: Renewal,
): Promise<RenewalOutcome> {
  const { provider, completed, cookie } = renewal;
  const now = clock.now();
  const taken = consumeParameters(completed, cookie.id, now);
  if (!completed.isReauthentication) {
    const count = await database.execute(consumeInSession, taken);
    return count === 1 ? { ok: true, session: undefined } : { ok: false };
  }
  const next = newSessionKey();
  const row = await database.first(renewByLink, {
    ...taken,
    ...evidenceParameters(renewal, now),
    keyHash: cookie.keyHash,
    newKeyHash: next.keyHash,
    ...strengthOf([{ kind: 'upstream', amr: namedMethods(provider, completed.answer) }]),
    auditEventId: newAuditEventId(now),
  });
  metrics?.count('latchkey_reauths_total', { method: 'upstream', result: row === undefined ? 'error' : 'success' });
  if (row === undefined) return { ok: false };
  return { ok: true, session: row.is_rotated ? { id: cookie.id, key: next.key } : undefined };
}

const consumeInSession = statement<never, ConsumeParameters>(
  'consume-upstream-authorization',
  `with linked as (
    select l.id from upstream_links l join user_sessions s on s.user_id = l.user_id
     where l.id = :linkId::uuid and s.id = :sessionId::uuid
       for no key update of l
  ), consumed as (
    ${consumeAuthorization('linked')}
    returning a.link_id
  )
  update upstream_links used set last_used_at = :now::timestamptz from consumed where used.id = consumed.link_id`,
);

// As when a password is given again: a lock of the account comes first or waits.
const renewByLink = statement<
  { is_rotated: boolean },
  ConsumeParameters &
    EvidenceParameters & {
      readonly keyHash: Buffer;
      readonly newKeyHash: Buffer;
      readonly acr: string;
      readonly amr: readonly string[];
      readonly auditEventId: string;
    }
>(
  'renew-authentication-by-link',
  `with account as (
    select u.id as user_id from upstream_links l join users u on u.id = l.user_id
     where l.id = :linkId::uuid and ${accountIsUsable('u')}
       for share of u for no key update of l
  ), consumed as (
    ${consumeAuthorization('account')}
    returning account.user_id
  ), ${USED_LINK}, renewed as (
    ${renewSessionSql('consumed')}
  ), authenticated as (
    ${insertAuthentication('renewed', 'upstream')}
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'reauthenticated', renewed.user_id, null, renewed.id, :ip::inet, :userAgent::text,
           '{"method": "upstream"}'::jsonb, :now::timestamptz from renewed
  )
  select renewed.is_rotated from renewed`,
);
