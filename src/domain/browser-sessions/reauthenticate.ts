import { type AcceptedPassword, acceptedPasswordParams } from '#domain/accounts/passwords/accepted-password.ts';
import type { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { Overloaded } from '#domain/accounts/passwords/overloaded.ts';
import { toUser, type User } from '#domain/accounts/user.ts';
import { newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { PASSWORD_ACR, PASSWORD_AMR } from '#protocol/oidc/authentication-classes.ts';
import type { KnownBrowser } from './known-browsers.ts';
import { newSessionKey, type SessionCookie, type SessionCredentials } from './session-key.ts';
import { renewAuthentication } from './statements/renew-authentication.ts';
import { countFailedReauth } from './writes.ts';

export interface ReauthDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly checks: PasswordChecks;
}

export interface ReauthAttempt {
  /** The cookie that the viewer was read by. */
  readonly cookie: SessionCookie;
  /** The session's user. */
  readonly user: User;
  /** As typed. */
  readonly password: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Aborted when the client has left. */
  readonly signal?: AbortSignal | undefined;
}

export type ReauthOutcome =
  /** `session`: what the cookie has to hold now; undefined when another request has just brought the browser a key. */
  | { readonly ok: true; readonly session: SessionCredentials | undefined }
  | { readonly ok: false; readonly reason: 'required' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | Overloaded
  /** Ended by the fifth wrong password in a row, or elsewhere meanwhile. */
  | { readonly ok: false; readonly reason: 'ended' | 'locked' | 'deactivated'; readonly user: User };

const MAX_FAILURES = 5;

/** Proves presence again inside an active session (browser-flows 3.4). */
export async function reauthenticate(deps: ReauthDeps, attempt: ReauthAttempt): Promise<ReauthOutcome> {
  const { user, password, address, userAgent, knownBrowsers, signal } = attempt;
  if (password === '') return { ok: false, reason: 'required' };
  const check = await deps.checks.check({ account: user.id, password, address, userAgent, knownBrowsers, signal });
  if (check.ok) return await renew(deps, attempt, check.accepted);
  if (check.reason !== 'invalid-credentials') return check;
  return await countFailure(deps, attempt);
}

async function renew(deps: ReauthDeps, attempt: ReauthAttempt, accepted: AcceptedPassword): Promise<ReauthOutcome> {
  const now = deps.clock.now();
  const { id, keyHash } = attempt.cookie;
  const next = newSessionKey();
  const row = await deps.database.first(renewAuthentication, {
    ...acceptedPasswordParams(accepted, now),
    sessionId: toUuid(id),
    keyHash,
    newKeyHash: next.keyHash,
    userAgent: attempt.userAgent ?? null,
    ip: attempt.address ?? null,
    authenticationId: toUuid(newId(now)),
    auditEventId: newAuditEventId(now),
    acr: PASSWORD_ACR,
    amr: PASSWORD_AMR,
  });
  if (row === undefined) return { ok: false, reason: 'invalid-credentials' };
  if (row.is_renewed) return { ok: true, session: row.is_rotated ? { id, key: next.key } : undefined };
  const user = toUser(row);
  if (user.isDeactivated) return { ok: false, reason: 'deactivated', user };
  return { ok: false, reason: user.isLocked ? 'locked' : 'ended', user };
}

async function countFailure(deps: ReauthDeps, attempt: ReauthAttempt): Promise<ReauthOutcome> {
  const now = deps.clock.now();
  const row = await deps.database.first(countFailedReauth, {
    now: new Date(now),
    id: toUuid(attempt.cookie.id),
    most: MAX_FAILURES,
    auditEventId: newAuditEventId(now),
    ip: attempt.address ?? null,
    userAgent: attempt.userAgent ?? null,
  });
  if (row === undefined || row.is_ended) return { ok: false, reason: 'ended', user: attempt.user };
  return { ok: false, reason: 'invalid-credentials' };
}
