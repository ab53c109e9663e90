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
import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import { metrics } from '#platform/base/metrics.ts';
import { statement } from '#platform/postgres/statement.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
import { type PasskeyAnswer, type ProofDeps, provePasskey } from './prove-passkey.ts';
import { USED_PASSKEY, type UsedPasskeyParams, usedPasskeyParams } from './used-passkey.ts';

export interface PasskeyRenewal extends Pick<PasskeyAnswer, 'credential'> {
  /** Of the session whose user is to prove who they are. */
  readonly cookie: SessionCookie;
  readonly user: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type PasskeyRenewalOutcome =
  /** `session`: what the cookie has to hold now; undefined when another request has just given the browser a key. */
  { readonly ok: true; readonly session: SessionCredentials | undefined } | { readonly ok: false };

/**
 * Authenticates the user of a session again, by one of their passkeys. A wrong one does not count against the session:
 * there is nothing to guess.
 */
export async function renewWithPasskey(
  deps: ProofDeps & { readonly clock: Clock },
  renewal: PasskeyRenewal,
): Promise<PasskeyRenewalOutcome> {
  const outcome = await renew(deps, renewal);
  metrics?.count('latchkey_reauths_total', { method: 'passkey', result: outcome.ok ? 'success' : 'error' });
  return outcome;
}

async function renew(
  deps: ProofDeps & { readonly clock: Clock },
  { credential, cookie, user, address, userAgent }: PasskeyRenewal,
): Promise<PasskeyRenewalOutcome> {
  const now = deps.clock.now();
  const answer = { credential, expects: { reauth: user }, holder: { sessionId: cookie.id }, now };
  const proven = await provePasskey(deps, answer);
  if (!proven.ok) return { ok: false };
  const next = newSessionKey();
  const row = await deps.database.first(renewByPasskey, {
    ...usedPasskeyParams(proven.proof, now),
    ...strengthOf([{ kind: 'passkey', isSynced: proven.proof.isSynced }]),
    userId: toUuid(user),
    sessionId: toUuid(cookie.id),
    keyHash: cookie.keyHash,
    newKeyHash: next.keyHash,
    userAgent: userAgent ?? null,
    ip: address ?? null,
    authenticationId: toUuid(newId(now)),
    auditEventId: newAuditEventId(now),
  });
  if (row === undefined) return { ok: false };
  return { ok: true, session: row.is_rotated ? { id: cookie.id, key: next.key } : undefined };
}

// As when a password is given again: a lock of the account comes first or waits.
const renewByPasskey = statement<
  { is_rotated: boolean },
  UsedPasskeyParams & {
    readonly userId: string;
    readonly sessionId: string;
    readonly keyHash: Buffer;
    readonly newKeyHash: Buffer;
    readonly acr: string;
    readonly amr: readonly string[];
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly authenticationId: string;
    readonly auditEventId: string;
  }
>(
  'renew-authentication-by-passkey',
  `with account as (
    select u.id as user_id from users u where u.id = :userId::uuid and ${accountIsUsable('u')} for share of u
  ), used as (
    ${USED_PASSKEY}
    returning k.user_id
  ), renewed as (
    ${renewSessionSql('used')}
  ), authenticated as (
    ${insertAuthentication('renewed', 'passkey')}
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'reauthenticated', renewed.user_id, null, renewed.id, :ip::inet, :userAgent::text,
           '{"method": "passkey"}'::jsonb, :now::timestamptz from renewed
  )
  select renewed.is_rotated from renewed`,
);
