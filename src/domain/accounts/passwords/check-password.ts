import type { RateLimitingConfig } from '#config/config.ts';
import { newAuditEventId } from '#domain/audit/audit-event.ts';
import { unknownNameKey } from '#domain/rate-limits/bucket-keys.ts';
import { secondsPerToken } from '#domain/rate-limits/limiter.ts';
import { type Charges, judgingLimits, refundTokens } from '#domain/rate-limits/rate-limits.ts';
import { addressKey } from '#platform/base/address-key.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid, type UserId } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { HashCaller, PasswordHasher, StoredHash, Verification } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { LoginName } from '../login-name.ts';
import type { User } from '../user.ts';
import { toUser } from '../user-row.ts';
import type { AcceptedPassword } from './accepted-password.ts';
import { type Overloaded, overloadedOutcome } from './overloaded.ts';
import { type BegunCheckRow, beginPasswordCheck } from './statements/begin-password-check.ts';
import { recordLoginFailure } from './writes.ts';

export interface PasswordChecksDeps {
  readonly database: Database;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly limits: RateLimitingConfig['login'];
  /** Longest password in bytes of UTF-8; a longer one is wrong without being hashed. */
  readonly maximumBytes: number;
}

export interface PasswordAttempt {
  /** Whose password it should be: the account of a session, or whoever has this name. */
  readonly account: UserId | LoginName;
  readonly password: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Accounts that have signed in from the same browser before, each with its nonce. */
  readonly knownBrowsers: readonly { readonly user: UserId; readonly nonce: string }[];
  /** Aborted when the client has left. */
  readonly signal?: AbortSignal | undefined;
}

/** Of one account within 24 hours, in the table of security events. */
const MAX_FAILURE_EVENTS = 10;

export type PasswordCheck =
  | { readonly ok: true; readonly accepted: AcceptedPassword }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | Overloaded;

/**
 * Checks passwords for every door that takes one: sign-in, re-authentication, changes in the account area. All share
 * the same limits and the same count of failures (browser-flows 3.2.5).
 *
 * An account that does not exist costs the same statements and one hash as well, so that neither answer nor time
 * tells which do.
 */
export class PasswordChecks {
  readonly #deps: PasswordChecksDeps;

  constructor(deps: PasswordChecksDeps) {
    this.#deps = deps;
  }

  async check(attempt: PasswordAttempt): Promise<PasswordCheck> {
    const row = await this.#begin(attempt);
    const charges = { keys: row.charged_keys ?? [], seconds: row.charged_seconds ?? [] };
    const user = row.user_id === null ? undefined : toUser(row);
    // The bucket of the address, and that of the account or of its known browser.
    if (charges.keys.length < 2) return await this.#refuse(row, charges, user);

    const stored = storedHash(row);
    const isTooLong = Buffer.byteLength(attempt.password) > this.#deps.maximumBytes;
    const caller = { address: addressKey(attempt.address), signal: attempt.signal };
    const verification = isTooLong
      ? ({ isRight: false } as const)
      : await this.#verify(stored, attempt.password, caller, charges);
    if ('reason' in verification) return verification;
    if (!verification.isRight || user === undefined || row.password_id === null) {
      return await this.#fail(attempt, row, user);
    }

    const newHash = verification.isOutdated ? await this.#rehash(attempt.password, caller, user) : undefined;
    const accepted = { user, passwordId: row.password_id, charges, subject: row.subject, newHash };
    return { ok: true, accepted };
  }

  async #begin(attempt: PasswordAttempt): Promise<BegunCheckRow> {
    const { clock, database, keyRing, limits, log } = this.#deps;
    const { account, address, knownBrowsers } = attempt;
    const name = typeof account === 'string' ? undefined : account;
    if (address === undefined) {
      log.warn('rate_limit.shared', 'a caller without a known address shares one bucket with all such callers');
    }
    const row = await judgingLimits(
      database.first(beginPasswordCheck, {
        now: new Date(clock.now()),
        userId: typeof account === 'string' ? toUuid(account) : null,
        emailKey: name?.emailKey ?? null,
        username: name?.exact ?? null,
        usernameKey: name?.key ?? null,
        unknownSubject: `name:${unknownNameKey(keyRing, name?.key ?? '')}`,
        addressKey: addressKey(address),
        addressBurst: limits.perIp.burst,
        addressSeconds: secondsPerToken(limits.perIp),
        accountBurst: limits.perAccount.burst,
        accountSeconds: secondsPerToken(limits.perAccount),
        knownUserIds: knownBrowsers.map((known) => toUuid(known.user)),
        knownNonces: knownBrowsers.map((known) => known.nonce),
        knownBurst: limits.perKnownBrowser.burst,
        knownSeconds: secondsPerToken(limits.perKnownBrowser),
      }),
    );
    if (row === undefined) throw new Error('the statement that begins a password check always has a row');
    return row;
  }

  async #refuse(row: BegunCheckRow, charges: Charges, user: User | undefined): Promise<PasswordCheck> {
    const { database, limits, log } = this.#deps;
    log.info('auth.refused', 'too many password checks', { code: 'rate_limited', user: user?.id });
    // Another caller took the last token of one bucket at the same moment.
    await refundTokens(database, charges);
    const retryAfterSeconds = row.blocked_seconds ?? secondsPerToken(limits.perAccount);
    return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.ceil(retryAfterSeconds) };
  }

  async #verify(
    stored: StoredHash | undefined,
    password: string,
    caller: HashCaller,
    charges: Charges,
  ): Promise<Verification | Overloaded> {
    try {
      return await this.#deps.hasher.verify(stored, password, caller);
    } catch (error) {
      await refundTokens(this.#deps.database, charges);
      return overloadedOutcome(error, this.#deps.log);
    }
  }

  async #fail(attempt: PasswordAttempt, row: BegunCheckRow, user: User | undefined): Promise<PasswordCheck> {
    const { clock, database, log } = this.#deps;
    const now = clock.now();
    const code = user === undefined ? 'unknown_user' : 'bad_password';
    log.info('auth.refused', 'wrong name or password', { code, user: user?.id });
    const failure = await database.first(recordLoginFailure, {
      now: new Date(now),
      subject: row.subject,
      userId: user === undefined ? null : toUuid(user.id),
      auditEventId: newAuditEventId(now),
      ip: attempt.address ?? null,
      userAgent: attempt.userAgent ?? null,
      mostEvents: MAX_FAILURE_EVENTS,
    });
    if (failure?.is_alarm === true && user !== undefined) {
      log.warn('login.bruteforce', '100 wrong passwords in a row within 24 hours', { user: user.id });
    }
    return { ok: false, reason: 'invalid-credentials' };
  }

  async #rehash(password: string, caller: HashCaller, user: User): Promise<StoredHash | undefined> {
    try {
      return await this.#deps.hasher.hash(password, caller);
    } catch (error) {
      this.#deps.log.warn('password.rehash_failed', 'an outdated password hash was kept', {
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
