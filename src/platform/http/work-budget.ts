/**
 * Limits the cost of requests with one budget for all routes (security 4.17). A request costs the CPU time of its task
 * plus the bytes sent. Unauthenticated requests are charged to their address, others to their account or client.
 * Requests of a heavily used address are queued. Callers with an empty budget are refused before any work.
 *
 * The budgets are in memory, since CPU time is a resource of one process.
 */
import { performance } from 'node:perf_hooks';
import { LatchkeyError } from '#platform/base/errors.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import { Turns, type TurnTaker } from './turns.ts';

/** A token bucket: its capacity in work, and its refill per second. */
export interface WorkLimit {
  /** 0 disables the limit. */
  readonly burstMs: number;
  readonly perSecondMs: number;
}

export interface WorkLimits {
  readonly perAddress: WorkLimit;
  readonly perAccount: WorkLimit;
  readonly perClient: WorkLimit;
}

/** Who is charged for an authenticated request. `free` is never charged. */
export type Payer = 'account' | 'client' | 'free';

/** CPU time that one mebibyte sent counts as. */
const MS_PER_MEBIBYTE = 10;
const MEBIBYTE = 1024 * 1024;
/**
 * What an address with an empty bucket may still use for requests with credentials, which may belong to another user
 * there.
 */
const RESERVED_SHARE = 1 / 4;
/** Requests of an address that has used this much are queued. */
const BUSY_MS = 50;
/** The same as a share of a small bucket. */
const MAX_BUSY_SHARE = 1 / 4;
const SWEEP_AFTER = 1000;
const QUIET_MS = 60_000;
const MAX_VERIFIED = 10_000;
/**
 * Maximum number of consecutive requests with previously valid credentials that fail to authenticate. Further ones are
 * treated like any other.
 */
const MAX_UNVERIFIED_USES = 50;
/** If a caller is refused twice within this time, the second response is delayed by as much. */
export const REFUSAL_HOLD_MS = 1000;
const MAX_KEYS = 1000;

/** Used work, which drains at the limit's refill rate. */
interface Used {
  ms: number;
  /** `performance.now()` of the last change. */
  at: number;
  toldAt: number;
  refusedAt: number;
}

/** The budget is used up. */
export class WorkUsedUp extends LatchkeyError {
  /** The caller was refused just before and did not wait. */
  readonly isRepeated: boolean;

  constructor(retryAfterSeconds: number, isRepeated: boolean) {
    super('rate_limited', { retryAfterSeconds });
    this.isRepeated = isRepeated;
  }
}

/** A request for the purpose of charging its address. */
export interface AddressRequest extends TurnTaker {
  readonly clientAddress: string | undefined;
  /** The header that may authenticate the requester. */
  readonly credentials: string | undefined;
  /** It was sent by a program that may serve many users. */
  readonly isOfMachine: boolean;
  /** It may turn out to belong to an account or a client. */
  readonly mayBeProven: boolean;
}

class Buckets {
  readonly #used = new Map<string, Used>();
  #limit: WorkLimit;
  /** Whether any bucket may be used enough to matter. While false, lookups are skipped. */
  isAnyBusy = false;
  #sweepAt = SWEEP_AFTER;

  constructor(limit: WorkLimit) {
    this.#limit = limit;
  }

  set limit(limit: WorkLimit) {
    this.#limit = limit;
  }

  get #busyMs(): number {
    return Math.min(BUSY_MS, this.#limit.burstMs * MAX_BUSY_SHARE);
  }

  get isUnlimited(): boolean {
    return this.#limit.burstMs === 0;
  }

  charge(key: string, ms: number, now: number): void {
    const { burstMs, perSecondMs } = this.#limit;
    if (burstMs === 0) return;
    const used = this.#used.get(key);
    // Requests already in progress when the bucket becomes empty do not extend the refusal.
    const max = burstMs * (1 + 2 * RESERVED_SHARE);
    if (used === undefined) {
      const never = Number.NEGATIVE_INFINITY;
      this.#used.set(key, { ms: Math.min(ms, max), at: now, toldAt: never, refusedAt: never });
      if (ms > this.#busyMs) this.isAnyBusy = true;
      if (this.#used.size > this.#sweepAt) this.#sweep(now);
      return;
    }
    used.ms = Math.min(max, leaked(used, perSecondMs, now) + ms);
    used.at = now;
    if (used.ms > this.#busyMs) this.isAnyBusy = true;
  }

  isBusy(key: string, now: number): boolean {
    const used = this.#used.get(key);
    return used !== undefined && leaked(used, this.#limit.perSecondMs, now) > this.#busyMs;
  }

  /**
   * Returns for how many seconds a key is refused, 0 if it has budget left. @param reserve additional share of the
   * bucket that it may use
   */
  secondsShut(key: string, reserve: number, now: number): number {
    const { burstMs, perSecondMs } = this.#limit;
    if (burstMs === 0) return 0;
    const used = this.#used.get(key);
    if (used === undefined) return 0;
    const excess = leaked(used, perSecondMs, now) - burstMs * (1 + reserve);
    return excess > 0 ? excess / perSecondMs : 0;
  }

  /** Records a refusal. @returns whether another one occurred shortly before */
  refuse(key: string, now: number): boolean {
    const used = this.#used.get(key);
    if (used === undefined) return false;
    const isRepeated = now - used.refusedAt < REFUSAL_HOLD_MS;
    used.refusedAt = now;
    return isRepeated;
  }

  /** Returns whether to log a refusal of this key. */
  isWorthTelling(key: string, now: number): boolean {
    const used = this.#used.get(key);
    if (used === undefined || now - used.toldAt < QUIET_MS) return false;
    used.toldAt = now;
    return true;
  }

  #sweep(now: number): void {
    const { perSecondMs } = this.#limit;
    this.isAnyBusy = false;
    for (const [key, used] of this.#used) {
      const ms = leaked(used, perSecondMs, now);
      if (ms <= 0) this.#used.delete(key);
      else if (ms > this.#busyMs) this.isAnyBusy = true;
    }
    this.#sweepAt = Math.max(SWEEP_AFTER, this.#used.size * 2);
  }
}

const MEASURED_EVERY_MS = 1000;

/**
 * Measures during how much of the JavaScript time the process had a CPU. Tasks measure wall-clock time, and on an
 * overloaded machine callers must not be charged for other programs.
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

/** The caller named in the log line of a refusal. */
interface Named {
  readonly address?: string;
  readonly account?: string;
  readonly client?: string;
}

/** The work budgets of a process. */
export class WorkBudget {
  readonly #log: Log;
  readonly #addresses: Buckets;
  readonly #accounts: Buckets;
  readonly #clients: Buckets;
  readonly #processorShare = new ProcessorShare();
  readonly #turns = new Turns(() => this.#processorShare.read(performance.now()));
  /**
   * Digests of credentials, with the number of failed uses since they last authenticated a caller. A collision would
   * only exempt a request from the limits of its address.
   */
  readonly #proven = new Map<number, number>();
  readonly #keys = new Map<string, string>();
  readonly #seed = randomBytes(4).readUInt32LE();

  constructor(limits: WorkLimits, log: Log) {
    this.#log = log;
    this.#addresses = new Buckets(limits.perAddress);
    this.#accounts = new Buckets(limits.perAccount);
    this.#clients = new Buckets(limits.perClient);
  }

  /** Keeps the work used so far. */
  set limits(limits: WorkLimits) {
    this.#addresses.limit = limits.perAddress;
    this.#accounts.limit = limits.perAccount;
    this.#clients.limit = limits.perClient;
  }

  /**
   * Charges an answered request.
   * @param payer undefined if the requester is not authenticated; the address is then charged
   * @param id of the payer, or the address; undefined for a Unix socket whose proxy does not send it, since all callers
   * would share one budget
   */
  charge(payer: Payer | undefined, id: string | undefined, cpuMs: number, bytes: number): void {
    if (id === undefined || payer === 'free') return;
    const buckets = payer === undefined ? this.#addresses : this.#bucketsOf(payer);
    if (buckets.isUnlimited) return;
    const now = performance.now();
    const ms = cpuMs * this.#processorShare.read(now) + (bytes / MEBIBYTE) * MS_PER_MEBIBYTE;
    buckets.charge(payer === undefined ? this.#keyOf(id) : id, ms, now);
  }

  /** Remembers credentials that authenticated a caller, so that a flood from the same address does not affect them. */
  remember(credentials: string): void {
    if (this.#addresses.isUnlimited) return;
    const digest = digestOf(credentials, this.#seed);
    const uses = this.#proven.get(digest);
    if (uses === 0) return;
    this.#proven.set(digest, 0);
    if (uses !== undefined || this.#proven.size <= MAX_VERIFIED) return;
    for (const oldest of this.#proven.keys()) {
      this.#proven.delete(oldest);
      return;
    }
  }

  /**
   * Returns whether a request at a busy address has known credentials. Forgets those that no longer authenticate a
   * caller.
   */
  #isProven(credentials: string | undefined): boolean {
    if (credentials === undefined) return false;
    const digest = digestOf(credentials, this.#seed);
    const uses = this.#proven.get(digest);
    if (uses === undefined) return false;
    if (uses < MAX_UNVERIFIED_USES) this.#proven.set(digest, uses + 1);
    else this.#proven.delete(digest);
    return true;
  }

  /** @throws WorkUsedUp */
  requireAddress({ clientAddress: address, credentials, mayBeProven: mayBeVerified }: AddressRequest): void {
    if (address === undefined || !this.#addresses.isAnyBusy) return;
    const now = performance.now();
    const key = this.#keyOf(address);
    const seconds = this.#addresses.secondsShut(key, mayBeVerified ? RESERVED_SHARE : 0, now);
    if (seconds > 0 && !this.#isProven(credentials)) throw this.#refusal(this.#addresses, key, seconds, { address });
  }

  /**
   * Queues a request if its address has too many requests in progress or has recently used much work.
   * @returns undefined if it can continue immediately
   * @throws WorkUsedUp if the queue is full
   */
  takeTurn(request: AddressRequest): Promise<void> | undefined {
    const { clientAddress: address, credentials, isOfMachine } = request;
    if (address === undefined || this.#addresses.isUnlimited) return undefined;
    const mayBeBusy = this.#addresses.isAnyBusy;
    // A server that sends requests for many users is not a flood, as long as it does not use too much.
    if (!mayBeBusy && isOfMachine) return undefined;
    const key = this.#keyOf(address);
    const isBusy = mayBeBusy && this.#addresses.isBusy(key, performance.now());
    if (!isBusy && (isOfMachine || this.#turns.begin(key, request))) return undefined;
    if (this.#isProven(credentials)) return undefined;
    // Programs and browsers at one address have separate queues, so that neither waits for a flood of the other.
    const line = isOfMachine ? `${key} machine` : key;
    const turn = this.#turns.wait(line, request);
    if (turn === undefined) throw this.#refusal(this.#addresses, key, 1, { address });
    return turn;
  }

  /** Ends a request that may have been queued. */
  endTurn(request: AddressRequest): void {
    this.#turns.end(request);
  }

  /** @throws WorkUsedUp */
  requirePayer(payer: Payer, id: string): void {
    if (payer === 'free') return;
    const buckets = this.#bucketsOf(payer);
    if (!buckets.isAnyBusy) return;
    const seconds = buckets.secondsShut(id, 0, performance.now());
    if (seconds > 0) throw this.#refusal(buckets, id, seconds, { [payer]: id });
  }

  /** Cached, since parsing IPv6 addresses is slow. */
  #keyOf(address: string): string {
    if (!address.includes(':')) return address;
    const known = this.#keys.get(address);
    if (known !== undefined) return known;
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear();
    const key = addressKey(address);
    this.#keys.set(address, key);
    return key;
  }

  #bucketsOf(payer: Payer): Buckets {
    return payer === 'account' ? this.#accounts : this.#clients;
  }

  #refusal(buckets: Buckets, key: string, seconds: number, who: Named): WorkUsedUp {
    metrics?.count('latchkey_rate_limited_total', { limiter: 'work' });
    const retryAfterSeconds = Math.ceil(seconds);
    const now = performance.now();
    if (buckets.isWorthTelling(key, now)) {
      this.#log.warn('http.work.exceeded', 'request rejected: work limit exceeded (limits.work)', {
        'client.address': who.address,
        account: who.account,
        client: who.client,
        retry_after: retryAfterSeconds,
      });
    }
    return new WorkUsedUp(retryAfterSeconds, buckets.refuse(key, now));
  }
}

/** Combines two halves of 26 bits, computed like FNV-1a. The header cannot be recovered from them. */
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
