import { type LoginNameRules, parseLoginName } from '#domain/accounts/login-name.ts';
import { type AcceptedPassword, acceptedPasswordParams } from '#domain/accounts/passwords/accepted-password.ts';
import type { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { Overloaded } from '#domain/accounts/passwords/overloaded.ts';
import { toUser, type User } from '#domain/accounts/user.ts';
import { newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import { PASSWORD_ACR, PASSWORD_AMR } from '#protocol/oidc/authentication-classes.ts';
import type { KnownBrowser } from './known-browsers.ts';
import { newSessionKey, type SessionCredentials } from './session-key.ts';
import { type OpenedSessionRow, openBrowserSession } from './statements/open-browser-session.ts';
import { finishSurplusSessions } from './writes.ts';

export interface SignInDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly checks: PasswordChecks;
  readonly loginNames: LoginNameRules;
}

export interface SignInAttempt {
  /** As typed; cut of surrounding white space here. */
  readonly username: string;
  /** As typed. */
  readonly password: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Aborted when the client has left. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcomes of browser-flows 3.2.4. */
export type SignInOutcome =
  | { readonly ok: true; readonly session: SessionCredentials; readonly user: User }
  | { readonly ok: false; readonly reason: 'required'; readonly fields: readonly ('username' | 'password')[] }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | Overloaded
  /** Only after the right password. */
  | { readonly ok: false; readonly reason: 'locked' | 'deactivated'; readonly user: User };

const MAX_SESSIONS = 1000;

/**
 * Signs a person in by name and password: one statement before the hash is checked off the main thread, one after it.
 */
export async function signInWithPassword(deps: SignInDeps, attempt: SignInAttempt): Promise<SignInOutcome> {
  const typedName = attempt.username.trim();
  const fields: ('username' | 'password')[] = [];
  if (typedName === '') fields.push('username');
  if (attempt.password === '') fields.push('password');
  if (fields.length > 0) return { ok: false, reason: 'required', fields };

  const account = parseLoginName(typedName, deps.loginNames);
  const { password, address, userAgent, knownBrowsers, signal } = attempt;
  const check = await deps.checks.check({ account, password, address, userAgent, knownBrowsers, signal });
  if (!check.ok) return check;
  return await open(deps, attempt, check.accepted);
}

async function open(deps: SignInDeps, attempt: SignInAttempt, accepted: AcceptedPassword): Promise<SignInOutcome> {
  const now = deps.clock.now();
  const id = newId<'browser-session'>(now);
  const { key, keyHash } = newSessionKey();
  const row = await deps.database.first(openBrowserSession, {
    ...acceptedPasswordParams(accepted, now),
    sessionId: toUuid(id),
    keyHash,
    userAgent: attempt.userAgent ?? null,
    ip: attempt.address ?? null,
    authenticationId: toUuid(newId(now)),
    mostSessions: MAX_SESSIONS,
    auditEventId: newAuditEventId(now),
    acr: PASSWORD_ACR,
    amr: PASSWORD_AMR,
  });
  if (row === undefined) return { ok: false, reason: 'invalid-credentials' };
  const user = toUser(row);
  if (!row.is_opened) return refuse(deps.log, user);
  await endSurplus(deps.database, row, now);
  return { ok: true, session: { id, key }, user };
}

function refuse(log: Log, user: User): SignInOutcome {
  const reason = user.isDeactivated ? 'deactivated' : 'locked';
  log.info('auth.refused', 'the account may not sign in', { code: reason, user: user.id });
  return { ok: false, reason, user };
}

async function endSurplus(database: Database, row: OpenedSessionRow, now: number): Promise<void> {
  if (row.live_sessions < MAX_SESSIONS) return;
  await database.execute(finishSurplusSessions, { now: new Date(now), userId: row.user_id, kept: MAX_SESSIONS });
}
