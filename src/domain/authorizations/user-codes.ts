import type { Limiter } from '#config/sections/rate-limiting.ts';
import { addressBucketKey, countFailure, refundTokens, takeTokens } from '#domain/limits/rate-limits.ts';
import { deviceCodeGrantIsPending } from '#domain/records/liveness/authorizations.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { delay } from '#platform/base/tasks.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseUserCode } from '#protocol/oauth/user-code.ts';
import type { DeviceCodeGrantId } from '#vocabulary/ids.ts';
import { userCodeHmacs } from './create-device-code-grant.ts';

export interface UserCodesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly limits: {
    /** Limit of wrong codes per IP address. */
    readonly perIp: Limiter;
    /** Limit of wrong codes over all IP addresses. Beyond it, each attempt is delayed. */
    readonly global: Limiter;
  };
  /** Waits for this many milliseconds; replaced in tests. */
  readonly pause?: (milliseconds: number) => Promise<void>;
}

export type EnteredCode =
  | { readonly ok: true; readonly id: DeviceCodeGrantId }
  /** Does not distinguish unknown, expired and used codes. */
  | { readonly ok: false; readonly reason: 'invalid-code' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

const GLOBAL_KEY = 'device_code:global';
/** Delay of each attempt while the global limit is exceeded. */
const SLOW_MS = 1000;
/** Limit of delayed attempts in this process, so that guessing cannot hold an unlimited number of requests. */
const MAX_SLOWED = 64;

/**
 * Finds the pending grant of a typed user code and rate-limits guessing (RFC 8628 5.1). The limit is charged before the
 * lookup and refunded for a right code, so parallel guesses gain nothing over sequential ones.
 */
export class UserCodes {
  readonly #deps: UserCodesDeps;
  readonly #pause: (milliseconds: number) => Promise<void>;
  /** End of the delays, as far as this process knows. */
  #slowUntil = 0;
  #slowed = 0;

  constructor(deps: UserCodesDeps) {
    this.#deps = deps;
    this.#pause = deps.pause ?? delay;
  }

  /** @param typed as typed by the user, in any notation */
  async enter(typed: string, address: string | undefined): Promise<EnteredCode> {
    const { database, clock, log, limits } = this.#deps;
    const bucket = { key: `device_code:ip:${addressBucketKey(log, address)}`, limiter: limits.perIp };
    const taken = await takeTokens(database, clock, [bucket]);
    if (!taken.ok) {
      log.warn('device.user_code', 'too many wrong user codes from one address', { code: 'rate_limited' });
      return { ok: false, reason: 'rate-limited', retryAfterSeconds: taken.retryAfterSeconds };
    }
    if (!(await this.#slowDown())) {
      // The code was not checked, so the attempt does not count.
      await refundTokens(database, taken.charges);
      return { ok: false, reason: 'rate-limited', retryAfterSeconds: 1 };
    }
    const id = await this.#find(typed);
    if (id !== undefined) {
      await refundTokens(database, taken.charges);
      return { ok: true, id };
    }
    const seconds = await countFailure(database, clock, { key: GLOBAL_KEY, limiter: limits.global });
    if (seconds > 0) {
      if (this.#slowUntil <= clock.now()) {
        log.warn('device.user_code', 'too many wrong user codes overall; attempts are delayed by one second', {
          code: 'slowed',
        });
      }
      this.#slowUntil = clock.now() + seconds * 1000;
    }
    return { ok: false, reason: 'invalid-code' };
  }

  /** Waits while the global limit is exceeded. Returns false if too many attempts are already waiting. */
  async #slowDown(): Promise<boolean> {
    if (this.#slowUntil <= this.#deps.clock.now()) return true;
    if (this.#slowed >= MAX_SLOWED) return false;
    this.#slowed += 1;
    try {
      await this.#pause(SLOW_MS);
    } finally {
      this.#slowed -= 1;
    }
    return true;
  }

  async #find(typed: string): Promise<DeviceCodeGrantId | undefined> {
    const { database, clock, keyRing } = this.#deps;
    const code = parseUserCode(typed);
    if (code === undefined) return undefined;
    const row = await database.first(pendingGrantOfUserCode, {
      hmacs: userCodeHmacs(keyRing, code),
      now: new Date(clock.now()),
    });
    return row === undefined ? undefined : fromUuid(row.id);
  }
}

/** Uses the partial unique index `oauth2_device_code_grants_user_code`. */
const pendingGrantOfUserCode = statement<{ id: string }, { readonly hmacs: readonly Buffer[]; readonly now: Date }>(
  'pending-grant-of-user-code',
  `select g.id
     from oauth2_device_code_grants g
    where g.user_code_hmac = any (:hmacs::bytea[]) and ${deviceCodeGrantIsPending('g', ':now::timestamptz')}`,
);
