import type { Limiter } from '#config/sections/rate-limiting.ts';
import { addressBucketKey, countFailure, refundTokens, takeTokens } from '#domain/rate-limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { type DeviceCodeGrantId, fromUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { delay } from '#platform/base/tasks.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseUserCode } from '#protocol/oauth/user-code.ts';
import { userCodeHmacs } from './create-device-code-grant.ts';
import { deviceCodeGrantIsPending } from './liveness.ts';

export interface UserCodesDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly limits: {
    /** Wrong codes from one address. */
    readonly perIp: Limiter;
    /** Wrong codes of everybody: from then on each try takes longer. */
    readonly global: Limiter;
  };
  /** Waits for so many milliseconds; tests do not. */
  readonly pause?: (milliseconds: number) => Promise<void>;
}

export type EnteredCode =
  | { readonly ok: true; readonly id: DeviceCodeGrantId }
  /** Unknown, expired and used codes are told apart for nobody. */
  | { readonly ok: false; readonly reason: 'invalid-code' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

const GLOBAL_KEY = 'device_code:global';
/** What each try costs while everybody together guesses too fast. */
const SLOW_MS = 1000;
/** Tries that may wait at once in this process, so that guesses do not hold requests without bound. */
const MAX_SLOWED = 64;

/**
 * The codes that people type in: finds the pending grant of a code, and bounds how fast codes can be guessed (RFC 8628
 * 5.1). The token is taken before the look-up and given back for a right code, so that a burst of guesses in parallel
 * gets no more tries than one after the other.
 */
export class UserCodes {
  readonly #deps: UserCodesDeps;
  readonly #pause: (milliseconds: number) => Promise<void>;
  /** Until when everybody together has used up the wrong tries, as far as this process knows. */
  #slowUntil = 0;
  #slowed = 0;

  constructor(deps: UserCodesDeps) {
    this.#deps = deps;
    this.#pause = deps.pause ?? delay;
  }

  /** @param typed what the person typed, in whatever spelling */
  async enter(typed: string, address: string | undefined): Promise<EnteredCode> {
    const { database, clock, log, limits } = this.#deps;
    const bucket = { key: `device_code:ip:${addressBucketKey(log, address)}`, limiter: limits.perIp };
    const taken = await takeTokens(database, clock, [bucket]);
    if (!taken.ok) {
      log.warn('device.user_code', 'too many wrong user codes from one address', { code: 'rate_limited' });
      return { ok: false, reason: 'rate-limited', retryAfterSeconds: taken.retryAfterSeconds };
    }
    if (!(await this.#slowDown())) {
      // The code was not looked at, so it was no wrong one.
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
        log.warn('device.user_code', 'too many wrong user codes from everywhere: each try waits a second', {
          code: 'slowed',
        });
      }
      this.#slowUntil = clock.now() + seconds * 1000;
    }
    return { ok: false, reason: 'invalid-code' };
  }

  /** Waits while there are too many wrong codes; false when too many wait already. */
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

/** Partial unique index `oauth2_device_code_grants_user_code`. */
const pendingGrantOfUserCode = statement<{ id: string }, { readonly hmacs: readonly Buffer[]; readonly now: Date }>(
  'pending-grant-of-user-code',
  `select g.id
     from oauth2_device_code_grants g
    where g.user_code_hmac = any (:hmacs::bytea[]) and ${deviceCodeGrantIsPending('g', ':now::timestamptz')}`,
);
