import { type LoginNameRules, parseLoginName } from '#domain/accounts/login-name.ts';
import {
  ACCEPTED_ACCOUNT_COLUMNS,
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import type { Overloaded, PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Captcha, CaptchaRefusal, CaptchaResponse } from '#domain/captcha/captcha.ts';
import { newSessionKey, type SessionCredentials } from '#domain/records/browser-session.ts';
import {
  type DueFactor,
  type DueFactorParams,
  dueFactorCte,
  dueFactorParams,
  type SecondFactorRules,
} from '#domain/records/due-factor.ts';
import { toUser, type User, type UserRow } from '#domain/records/user.ts';
import {
  insertPendingLogin,
  newPendingLogin,
  type PendingLoginParams,
} from '#domain/second-factors/begin-pending-login.ts';
import { newSealedSetup } from '#domain/second-factors/factor-setup.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';
import { type KnownBrowser, nonceOf } from './known-browsers.ts';
import { isUnknownBrowser, newSigninCtes } from './new-signin-notice.ts';
import { insertAuthentication, insertSession } from './start-browser-session.ts';
import { finishSurplusSessions, liveSessionsSql } from './surplus-sessions.ts';

export interface SignInDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly secondFactors: SecondFactorRules;
  readonly passwordChecks: PasswordChecks;
  readonly captcha: Pick<Captcha, 'check' | 'countFailure'>;
  readonly loginNames: LoginNameRules;
  readonly sendsNotices: boolean;
}

export interface SignInAttempt {
  /** As typed; trimmed here. */
  readonly username: string;
  /** As typed. */
  readonly password: string;
  readonly captcha: CaptchaResponse;
  /** Where the user continues, if another factor is due. */
  readonly action?: PostAuthAction | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Language of the page, for mail to an owner whose language is unknown. */
  readonly language: string;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcomes of browser-flows 3.2.4. */
export type SignInOutcome =
  | { readonly ok: true; readonly session: SessionCredentials; readonly user: User }
  | { readonly ok: false; readonly reason: 'required'; readonly fields: readonly ('username' | 'password')[] }
  | CaptchaRefusal
  /** The password was right, but the user must prove this factor as well. */
  | { readonly ok: false; readonly reason: 'factor-due'; readonly pending: PendingLoginId; readonly factor: DueFactor }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | Overloaded
  /** Only reported after the right password. */
  | { readonly ok: false; readonly reason: 'locked' | 'deactivated'; readonly user: User };

/** The current account. Without a row, the password was changed since the check. */
type OpenedSessionRow = UserRow & {
  readonly is_opened: boolean;
  /** Null: none is due, or the account is locked or deactivated. */
  readonly due_factor: DueFactor | null;
  /** See `liveSessionsSql`. */
  readonly live_sessions: number;
};

/**
 * Opens a session after a correct password, with its authentication and audit event, unless the account is locked or
 * deactivated. If another factor is due, starts a pending login instead.
 */
const openBrowserSession = statement<
  OpenedSessionRow,
  AcceptedPasswordParams &
    DueFactorParams &
    PendingLoginParams & {
      readonly setupSealed: Buffer | null;
      readonly sessionId: string;
      readonly keyHash: Buffer;
      readonly userAgent: string | null;
      readonly ip: string | null;
      readonly authenticationId: string;
      readonly auditEventId: string;
      readonly acr: string;
      readonly amr: readonly string[];
      readonly isTold: boolean;
      readonly language: string;
      readonly queuedBy: string | null;
    }
>(
  'open-browser-session',
  `with ${acceptedPasswordCtes},
  ${dueFactorCte('proven')},
  opened as (
    ${insertSession('proven.user_id')}
    from proven cross join due where due.factor is null
    returning id, user_id
  ),
  pending as (
    ${insertPendingLogin({
      userId: 'proven.user_id',
      firstFactor: 'password',
      passwordId: ':passwordId::uuid',
      setup: `case when due.factor = 'setup' then :setupSealed::bytea end`,
    })}
    from proven cross join due where due.factor is not null
  ),
  authenticated as (
    ${insertAuthentication('opened', 'password')}
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text, null, :now::timestamptz from opened
  ),
  ${newSigninCtes(`'password'`)}
  select ${ACCEPTED_ACCOUNT_COLUMNS},
    exists (select from opened) as is_opened,
    (select due.factor from due) as due_factor,
    ${liveSessionsSql(':userId::uuid')} as live_sessions
  from account`,
);

/**
 * Signs a user in with name and password. Runs one statement before and one after the hash is verified off the main
 * thread.
 */
export async function signInWithPassword(deps: SignInDeps, attempt: SignInAttempt): Promise<SignInOutcome> {
  const typedName = attempt.username.trim();
  const fields: ('username' | 'password')[] = [];
  if (typedName === '') fields.push('username');
  if (attempt.password === '') fields.push('password');
  if (fields.length > 0) return { ok: false, reason: 'required', fields };

  const solved = await deps.captcha.check('login', attempt.captcha, attempt.address);
  if (!solved.ok) return solved;
  const account = parseLoginName(typedName, deps.loginNames);
  const { password, address, userAgent, knownBrowsers, signal } = attempt;
  const subject = { account, address, userAgent, knownBrowsers };
  const check = await deps.passwordChecks.check({ ...subject, password, signal, isSignIn: true });
  // The password check has already counted these, with the exact reason.
  if (!check.ok && check.reason === 'invalid-credentials') {
    await deps.captcha.countFailure(address);
    return check;
  }
  const outcome = check.ok ? await open(deps, attempt, check.accepted) : check;
  const result = metrics === undefined ? undefined : resultOf(outcome);
  if (result !== undefined) metrics?.count('latchkey_login_attempts_total', { result });
  return outcome;
}

/** Undefined: the attempt continues and is counted later. */
function resultOf(outcome: SignInOutcome): string | undefined {
  if (outcome.ok) return 'success';
  switch (outcome.reason) {
    case 'factor-due':
      return undefined;
    case 'locked':
    case 'deactivated':
      return 'locked';
    case 'rate-limited':
      return 'rate_limited';
    // The password was changed during the check.
    case 'invalid-credentials':
      return 'bad_password';
    default:
      return 'error';
  }
}

async function open(deps: SignInDeps, attempt: SignInAttempt, accepted: AcceptedPassword): Promise<SignInOutcome> {
  const now = deps.clock.now();
  const id = newId<'browser-session'>(now);
  const { key, keyHash } = newSessionKey();
  const { policy, arePasskeysUsed } = deps.secondFactors;
  const pending = newPendingLogin(attempt.action, now);
  const row = await deps.database.first(openBrowserSession, {
    ...acceptedPasswordParams(accepted, now),
    ...dueFactorParams(policy, nonceOf(attempt.knownBrowsers, accepted.user.id), arePasskeysUsed),
    ...pending.params,
    setupSealed: policy === 'required' ? newSealedSetup(deps.keyRing, pending.id) : null,
    sessionId: toUuid(id),
    keyHash,
    userAgent: attempt.userAgent ?? null,
    ip: attempt.address ?? null,
    authenticationId: toUuid(newId(now)),
    auditEventId: newAuditEventId(now),
    ...strengthOf([{ kind: 'password' }]),
    isTold: deps.sendsNotices && isUnknownBrowser(attempt.knownBrowsers, accepted.user.id),
    language: attempt.language,
    queuedBy: queuedBy(),
  });
  if (row === undefined) return { ok: false, reason: 'invalid-credentials' };
  const user = toUser(row);
  if (row.due_factor !== null) return { ok: false, reason: 'factor-due', pending: pending.id, factor: row.due_factor };
  if (!row.is_opened) return refuse(deps.log, user);
  await finishSurplusSessions(deps.database, row.user_id, row.live_sessions, now);
  return { ok: true, session: { id, key }, user };
}

function refuse(log: Log, user: User): SignInOutcome {
  const reason = user.isDeactivated ? 'deactivated' : 'locked';
  log.info('auth.refused', 'sign-in refused: the account is locked or deactivated', { code: reason, user: user.id });
  return { ok: false, reason, user };
}
