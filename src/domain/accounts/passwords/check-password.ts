/**
 * Passwords of accounts, tables `user_passwords` and `login_failures`. A check has two halves. `PasswordChecks` charges
 * the limits and verifies the hash. The statement that acts on a verified password includes `acceptedPasswordCtes`,
 * which refunds the tokens and fails if the password has changed since. The caller decides what a verified password
 * allows.
 */

import { newAuditEventId } from '#domain/audit/audit-event.ts';
import { LOGIN_FAILURE_CTES } from '#domain/audit/login-failures.ts';
import { type Charges, refundTokens, secondsPerToken } from '#domain/limits/rate-limits.ts';
import { toUser, type User } from '#domain/records/user.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Counters } from '#domain/statistics/counters.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { PasswordHasher, StoredHash, Verification } from '#platform/password-hash/password-hasher.ts';
import { preparePassword } from '#platform/password-hash/prepare-password.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AcceptedPassword } from './accepted-password.ts';
import {
  type BeginPasswordCheckDeps,
  type BegunCheckRow,
  beginPasswordCheck,
  type PasswordCheckSubject,
} from './begin-password-check.ts';

export interface PasswordChecksDeps extends BeginPasswordCheckDeps {
  readonly hasher: PasswordHasher;
  /** Counts failures with names that no account has. They leave no event. */
  readonly counters: Pick<Counters, 'count'>;
  /** Maximum password length in UTF-8 bytes; a longer password is rejected without hashing. */
  readonly maximumBytes: number;
  /** Whether users get security notices about their account by email. */
  readonly sendsNotices: boolean;
}

export interface PasswordAttempt extends PasswordCheckSubject {
  readonly password: string;
  readonly userAgent: string | undefined;
  /** Counts the attempt in the sign-in metrics. */
  readonly isSignIn?: boolean;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

export type PasswordCheck =
  | { readonly ok: true; readonly accepted: AcceptedPassword }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | Overloaded;

/**
 * Adds a wrong password to the consecutive failures. If this is the hundredth and the first was less than a day ago,
 * the failures are cleared and the alarm is raised. Otherwise the last 99 are kept.
 *
 * The failure appears in the account's activity. The commit does not wait for the disk: only existing accounts have a
 * logged write here, so waiting would reveal which accounts exist. A crash can lose the most recent events, just like
 * the buckets and counts, which are not logged at all.
 */
export const recordLoginFailure = statement<
  { is_alarm: boolean },
  {
    readonly now: Date;
    readonly subject: string;
    readonly userId: string | null;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'record-login-failure',
  `with lazy as materialized (select set_config('synchronous_commit', 'off', true) as setting),
  ${LOGIN_FAILURE_CTES}
  insert into login_failures as failures (key, failed_at, last_failed_at)
  select :subject::text, array[:now::timestamptz], :now::timestamptz from lazy where lazy.setting = 'off'
  on conflict (key) do update set
    last_failed_at = :now::timestamptz,
    failed_at = case
      when failures.failed_at[cardinality(failures.failed_at) - 98] > :now::timestamptz - interval '24 hours' then '{}'
      else (failures.failed_at || :now::timestamptz)[cardinality(failures.failed_at) - 97 :]
    end
  returning cardinality(failures.failed_at) = 0 as is_alarm`,
);

interface Verified {
  readonly ok: true;
  readonly verification: Verification;
}

const WRONG: Verified = { ok: true, verification: { isRight: false } };

/**
 * Checks passwords wherever the user enters one: sign-in, re-authentication and changes in the account area. All share
 * the same rate limits and failure count (browser-flows 3.2.5).
 *
 * An unknown account costs the same statements and one hash, so that neither the response nor its timing reveals which
 * accounts exist.
 */
export class PasswordChecks {
  readonly #deps: PasswordChecksDeps;

  constructor(deps: PasswordChecksDeps) {
    this.#deps = deps;
  }

  async check(attempt: PasswordAttempt): Promise<PasswordCheck> {
    const row = await beginPasswordCheck(this.#deps, attempt);
    const charges = { keys: row.charged_keys ?? [], seconds: row.charged_seconds ?? [] };
    const user = row.user_id === null ? undefined : toUser(row);
    // Two buckets: the IP address, and either the account or its known browser.
    if (charges.keys.length < 2) return await this.#refuse(row, charges, user);

    const stored = storedHash(row);
    const isTooLong = Buffer.byteLength(preparePassword(attempt.password)) > this.#deps.maximumBytes;
    const caller = { address: addressKey(attempt.address), signal: attempt.signal };
    const verified = isTooLong ? WRONG : await this.#verify(stored, attempt.password, caller, charges);
    if (!verified.ok) return verified;
    const { verification } = verified;
    if (!verification.isRight || user === undefined || row.password_id === null) {
      return await this.#fail(attempt, row, user);
    }

    const newHash = verification.isOutdated ? await this.#rehash(attempt.password, caller, user) : undefined;
    const accepted = { user, passwordId: row.password_id, charges, subject: row.subject, newHash };
    return { ok: true, accepted };
  }

  async #refuse(row: BegunCheckRow, charges: Charges, user: User | undefined): Promise<PasswordCheck> {
    const { database, limits, log } = this.#deps;
    metrics?.count('latchkey_rate_limited_total', { limiter: 'login' });
    log.info('auth.refused', 'too many password checks', { code: 'rate_limited', user: user?.id });
    // A concurrent request may have taken the last token of just one bucket.
    await refundTokens(database, charges);
    const retryAfterSeconds = row.blocked_seconds ?? secondsPerToken(limits.perAccount);
    return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.ceil(retryAfterSeconds) };
  }

  async #verify(
    stored: StoredHash | undefined,
    password: string,
    caller: HashCaller,
    charges: Charges,
  ): Promise<Verified | Overloaded> {
    try {
      return { ok: true, verification: await this.#deps.hasher.verify(stored, password, caller) };
    } catch (error) {
      await refundTokens(this.#deps.database, charges);
      return overloadedOutcome(error, this.#deps.log);
    }
  }

  async #fail(attempt: PasswordAttempt, row: BegunCheckRow, user: User | undefined): Promise<PasswordCheck> {
    const { clock, counters, database, log } = this.#deps;
    const now = clock.now();
    if (user === undefined) counters.count('unknown_account_failures', undefined, now);
    const code = user === undefined ? 'unknown_user' : 'bad_password';
    if (attempt.isSignIn === true) metrics?.count('latchkey_login_attempts_total', { result: code });
    log.info('auth.refused', 'wrong name or password', { code, user: user?.id });
    const failure = await database.first(recordLoginFailure, {
      now: new Date(now),
      subject: row.subject,
      userId: user === undefined ? null : toUuid(user.id),
      auditEventId: newAuditEventId(now),
      ip: attempt.address ?? null,
      userAgent: attempt.userAgent ?? null,
    });
    if (failure?.is_alarm === true && user !== undefined) {
      log.warn('login.bruteforce', '100 wrong passwords in a row within 24 hours', { user: user.id });
      if (this.#deps.sendsNotices) await queueNotice(database, 'failed_logins', { user: user.id, now });
    }
    return { ok: false, reason: 'invalid-credentials' };
  }

  async #rehash(password: string, caller: HashCaller, user: User): Promise<StoredHash | undefined> {
    try {
      return await this.#deps.hasher.hash(password, caller);
    } catch (error) {
      this.#deps.log.warn('password.rehash_failed', 'password hash upgrade failed', {
        user: user.id,
        reason: describeError(error).message,
      });
      return undefined;
    }
  }
}

function storedHash(row: BegunCheckRow): StoredHash | undefined {
  if (row.hash === null || row.scheme_version === null) return undefined;
  return { hash: row.hash, schemeVersion: row.scheme_version };
}

/** Too many passwords are waiting to be hashed or estimated. Nothing was checked, so the attempt does not count. */
export interface Overloaded {
  readonly ok: false;
  readonly reason: 'overloaded';
  readonly retryAfterSeconds: number;
}

const RETRY_AFTER_SECONDS = 5;

/** Returns the outcome for an error of the password queues. Rethrows any other error. */
export function overloadedOutcome(error: unknown, log: Log): Overloaded {
  if (!(error instanceof LatchkeyError) || error.code !== 'overloaded') throw error;
  log.info('auth.refused', 'password check not possible', { code: error.code, reason: error.description });
  return { ok: false, reason: 'overloaded', retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS };
}
