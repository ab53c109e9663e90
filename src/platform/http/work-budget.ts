/**
 * What requests cost, in one bucket for all routes (security 4.17): the processor time of their task, and the bytes sent.
 * An address pays for requests in which nobody proves who they are, and an account or a client for its own. Whoever has
 * used up a bucket is refused before any work, so that others are served as before.
 *
 * It is kept in memory, since processor time is a resource of one process.
 */
import { performance } from 'node:perf_hooks';
import { LatchkeyError } from '#platform/base/errors.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';

/** A bucket that holds so much work, and gets so much back each second. */
export interface WorkLimit {
  /** 0: there is no limit. */
  readonly burstMs: number;
  readonly perSecondMs: number;
}

export interface WorkLimits {
  readonly perAddress: WorkLimit;
  readonly perAccount: WorkLimit;
  readonly perClient: WorkLimit;
}

/** Who pays for a request once they have proved who they are; `free` pays nothing. */
export type Payer = 'account' | 'client' | 'free';

/** One mebibyte sent counts as so much processor time. */
const MS_PER_MEBIBYTE = 10;
const MEBIBYTE = 1024 * 1024;
/** What an address with an empty bucket may use for requests with credentials, which may belong to somebody else there. */
const RESERVED_SHARE = 1 / 4;
const SWEEP_AFTER = 1000;
const QUIET_MS = 60_000;
const MAX_PROVEN = 10_000;

/** Work that was used, which leaks away by the share of the limit. */
interface Used {
  ms: number;
  /** `performance.now()` of the last change. */
  at: number;
  toldAt: number;
}

class Buckets {
  readonly #used = new Map<string, Used>();
  #limit: WorkLimit;
  /** Some bucket may be empty; so long as none is, nothing has to be looked up. */
  isAnyEmpty = false;
  #sweepAt = SWEEP_AFTER;

  constructor(limit: WorkLimit) {
    this.#limit = limit;
  }

  set limit(limit: WorkLimit) {
    this.#limit = limit;
  }

  charge(key: string, ms: number, now: number): void {
    const { burstMs, perSecondMs } = this.#limit;
    if (burstMs === 0) return;
    const used = this.#used.get(key);
    // What a flood had under way when its bucket ran dry does not shut it for longer.
    const max = burstMs * (1 + 2 * RESERVED_SHARE);
    if (used === undefined) {
      this.#used.set(key, { ms: Math.min(ms, max), at: now, toldAt: Number.NEGATIVE_INFINITY });
      if (ms > burstMs) this.isAnyEmpty = true;
      if (this.#used.size > this.#sweepAt) this.#sweep(now);
      return;
    }
    used.ms = Math.min(max, leaked(used, perSecondMs, now) + ms);
    used.at = now;
    if (used.ms > burstMs) this.isAnyEmpty = true;
  }

  /** For how many seconds a key gets nothing; 0: it has work left. @param reserve share of the bucket that it may use beyond it */
  secondsShut(key: string, reserve: number, now: number): number {
    const { burstMs, perSecondMs } = this.#limit;
    if (burstMs === 0) return 0;
    const used = this.#used.get(key);
    if (used === undefined) return 0;
    const excess = leaked(used, perSecondMs, now) - burstMs * (1 + reserve);
    return excess > 0 ? excess / perSecondMs : 0;
  }

  /** Whether a refusal of this key is worth a line. */
  isWorthTelling(key: string, now: number): boolean {
    const used = this.#used.get(key);
    if (used === undefined || now - used.toldAt < QUIET_MS) return false;
    used.toldAt = now;
    return true;
  }

  #sweep(now: number): void {
    const { burstMs, perSecondMs } = this.#limit;
    this.isAnyEmpty = false;
    for (const [key, used] of this.#used) {
      const ms = leaked(used, perSecondMs, now);
      if (ms <= 0) this.#used.delete(key);
      else if (ms > burstMs) this.isAnyEmpty = true;
    }
    this.#sweepAt = Math.max(SWEEP_AFTER, this.#used.size * 2);
  }
}

const MEASURED_EVERY_MS = 1000;

/**
 * How much of the time in which JavaScript ran the process had a processor. Tasks are timed by the clock, and on a machine
 * with too much to do callers must not pay for what other programs do.
 */
class ProcessorShare {
  #value = 1;
  #measuredAt = performance.now();
  #cpu = process.cpuUsage();
  #loop = performance.eventLoopUtilization();

  read(now: number): number {
    if (now - this.#measuredAt < MEASURED_EVERY_MS) return this.#value;
    this.#measuredAt = now;
    const [cpu, loop] = [process.cpuUsage(), performance.eventLoopUtilization()];
    const activeMs = loop.active - this.#loop.active;
    const cpuMs = (cpu.user + cpu.system - this.#cpu.user - this.#cpu.system) / 1000;
    this.#value = activeMs > 0 ? Math.min(1, cpuMs / activeMs) : 1;
    this.#cpu = cpu;
    this.#loop = loop;
    return this.#value;
  }
}

/** Whom the line of a refusal names. */
interface Named {
  readonly address?: string;
  readonly account?: string;
  readonly client?: string;
}

/** The budgets of a process. */
export class WorkBudget {
  readonly #log: Log;
  readonly #addresses: Buckets;
  readonly #accounts: Buckets;
  readonly #clients: Buckets;
  readonly #processorShare = new ProcessorShare();
  /** Digests of headers; a collision would only have a request judged by its route. */
  readonly #proven = new Set<number>();
  readonly #seed = randomBytes(4).readUInt32LE();

  constructor(limits: WorkLimits, log: Log) {
    this.#log = log;
    this.#addresses = new Buckets(limits.perAddress);
    this.#accounts = new Buckets(limits.perAccount);
    this.#clients = new Buckets(limits.perClient);
  }

  /** What was used up to now counts on. */
  set limits(limits: WorkLimits) {
    this.#addresses.limit = limits.perAddress;
    this.#accounts.limit = limits.perAccount;
    this.#clients.limit = limits.perClient;
  }

  /**
   * Charges a request that was answered.
   * @param payer undefined: nobody has proved who they are, and their address pays
   * @param id of the payer, or the address; undefined: it is behind a Unix socket whose proxy does not tell it, where all
   *   callers would share one
   */
  charge(payer: Payer | undefined, id: string | undefined, cpuMs: number, bytes: number): void {
    if (id === undefined || payer === 'free') return;
    const now = performance.now();
    const ms = cpuMs * this.#processorShare.read(now) + (bytes / MEBIBYTE) * MS_PER_MEBIBYTE;
    if (payer === undefined) this.#addresses.charge(addressKey(id), ms, now);
    else this.#bucketsOf(payer).charge(id, ms, now);
  }

  /** A header `Authorization` with which somebody has proved who they are: a flood at their address is not theirs. */
  remember(authorization: string): void {
    const digest = digestOf(authorization, this.#seed);
    if (this.#proven.has(digest)) return;
    this.#proven.add(digest);
    if (this.#proven.size <= MAX_PROVEN) return;
    for (const oldest of this.#proven) {
      this.#proven.delete(oldest);
      return;
    }
  }

  /**
   * @param hasCredentials the request may turn out to belong to an account or a client
   * @throws LatchkeyError `rate_limited`
   */
  requireAddress(address: string | undefined, authorization: string | undefined, hasCredentials: boolean): void {
    if (address === undefined || !this.#addresses.isAnyEmpty) return;
    if (authorization !== undefined && this.#proven.has(digestOf(authorization, this.#seed))) return;
    const now = performance.now();
    const key = addressKey(address);
    const seconds = this.#addresses.secondsShut(key, hasCredentials ? RESERVED_SHARE : 0, now);
    if (seconds > 0) throw this.#refusal(this.#addresses, key, seconds, { address });
  }

  /** @throws LatchkeyError `rate_limited` */
  requirePayer(payer: Payer, id: string): void {
    const buckets = this.#bucketsOf(payer);
    if (payer === 'free' || !buckets.isAnyEmpty) return;
    const seconds = buckets.secondsShut(id, 0, performance.now());
    if (seconds > 0) throw this.#refusal(buckets, id, seconds, { [payer]: id });
  }

  #bucketsOf(payer: Payer): Buckets {
    return payer === 'account' ? this.#accounts : this.#clients;
  }

  #refusal(buckets: Buckets, key: string, seconds: number, who: Named): LatchkeyError {
    metrics?.count('latchkey_rate_limited_total', { limiter: 'work' });
    const retryAfterSeconds = Math.ceil(seconds);
    if (buckets.isWorthTelling(key, performance.now())) {
      this.#log.warn('http.work.exceeded', 'requests refused: limits.work is used up', {
        'client.address': who.address,
        account: who.account,
        client: who.client,
        retry_after: retryAfterSeconds,
      });
    }
    return new LatchkeyError('rate_limited', { retryAfterSeconds });
  }
}

/** Two halves of 26 bits, by the method of FNV-1a: nothing of the header can be read from them. */
function digestOf(text: string, seed: number): number {
  let [high, low] = [seed, ~seed];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
  }
  return (high >>> 6) * 0x4000000 + (low >>> 6);
}

function leaked({ ms, at }: Used, perSecondMs: number, now: number): number {
  return Math.max(0, ms - ((now - at) / 1000) * perSecondMs);
}
