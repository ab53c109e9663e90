/**
 * What requests cost, in one bucket for all routes (security 4.17): the processor time of their task, and the bytes sent.
 * An address pays for requests in which nobody proves who they are, and an account or a client for its own. The requests
 * of an address that uses much wait for each other. Whoever has used up a bucket is refused before any work.
 *
 * It is kept in memory, since processor time is a resource of one process.
 */
import { performance } from 'node:perf_hooks';
import { LatchkeyError } from '#platform/base/errors.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import { Turns, type TurnTaker } from './turns.ts';

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
/** Requests of an address that has used so much wait for their turn. */
const BUSY_MS = 50;
/** The same where the bucket is small. */
const MAX_BUSY_SHARE = 1 / 4;
const SWEEP_AFTER = 1000;
const QUIET_MS = 60_000;
const MAX_PROVEN = 10_000;
/** Requests with credentials that have proved somebody before and prove nobody now; the next one counts as any other. */
const MAX_UNPROVEN_USES = 50;
/** Whoever is refused again within that time has to wait as long for the answer. */
export const REFUSAL_HOLD_MS = 1000;
const MAX_KEYS = 1000;

/** Work that was used, which leaks away by the share of the limit. */
interface Used {
  ms: number;
  /** `performance.now()` of the last change. */
  at: number;
  toldAt: number;
  refusedAt: number;
}

/** A bucket is used up. */
export class WorkUsedUp extends LatchkeyError {
  /** The caller was refused just before, and does not heed it. */
  readonly isRepeated: boolean;

  constructor(retryAfterSeconds: number, isRepeated: boolean) {
    super('rate_limited', { retryAfterSeconds });
    this.isRepeated = isRepeated;
  }
}

/** A request as its address pays for it. */
export interface AddressRequest extends TurnTaker {
  readonly clientAddress: string | undefined;
  /** The header by which somebody may prove who they are. */
  readonly credentials: string | undefined;
  /** A program sent it, by which many may be served. */
  readonly isOfMachine: boolean;
  /** It may turn out to belong to an account or a client. */
  readonly mayBeProven: boolean;
}

class Buckets {
  readonly #used = new Map<string, Used>();
  #limit: WorkLimit;
  /** Some bucket may be used so far that it matters; so long as none is, nothing has to be looked up. */
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
    // What a flood had under way when its bucket ran dry does not shut it for longer.
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

  /** For how many seconds a key gets nothing; 0: it has work left. @param reserve share of the bucket that it may use beyond it */
  secondsShut(key: string, reserve: number, now: number): number {
    const { burstMs, perSecondMs } = this.#limit;
    if (burstMs === 0) return 0;
    const used = this.#used.get(key);
    if (used === undefined) return 0;
    const excess = leaked(used, perSecondMs, now) - burstMs * (1 + reserve);
    return excess > 0 ? excess / perSecondMs : 0;
  }

  /** Notes a refusal. @returns whether one came shortly before */
  refuse(key: string, now: number): boolean {
    const used = this.#used.get(key);
    if (used === undefined) return false;
    const isRepeated = now - used.refusedAt < REFUSAL_HOLD_MS;
    used.refusedAt = now;
    return isRepeated;
  }

  /** Whether a refusal of this key is worth a line. */
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
  readonly #turns = new Turns(() => this.#processorShare.read(performance.now()));
  /** Digests of headers, with how often they proved nobody since; a collision would only have a request judged by its route. */
  readonly #proven = new Map<number, number>();
  readonly #keys = new Map<string, string>();
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
    const buckets = payer === undefined ? this.#addresses : this.#bucketsOf(payer);
    if (buckets.isUnlimited) return;
    const now = performance.now();
    const ms = cpuMs * this.#processorShare.read(now) + (bytes / MEBIBYTE) * MS_PER_MEBIBYTE;
    buckets.charge(payer === undefined ? this.#keyOf(id) : id, ms, now);
  }

  /** Headers with which somebody has proved who they are: a flood at their address is not theirs. */
  remember(credentials: string): void {
    if (this.#addresses.isUnlimited) return;
    const digest = digestOf(credentials, this.#seed);
    const uses = this.#proven.get(digest);
    if (uses === 0) return;
    this.#proven.set(digest, 0);
    if (uses !== undefined || this.#proven.size <= MAX_PROVEN) return;
    for (const oldest of this.#proven.keys()) {
      this.#proven.delete(oldest);
      return;
    }
  }

  /** A request at a busy address belongs to somebody who has proved who they are. What proves nobody any more is forgotten. */
  #isProven(credentials: string | undefined): boolean {
    if (credentials === undefined) return false;
    const digest = digestOf(credentials, this.#seed);
    const uses = this.#proven.get(digest);
    if (uses === undefined) return false;
    if (uses < MAX_UNPROVEN_USES) this.#proven.set(digest, uses + 1);
    else this.#proven.delete(digest);
    return true;
  }

  /** @throws WorkUsedUp */
  requireAddress({ clientAddress: address, credentials, mayBeProven }: AddressRequest): void {
    if (address === undefined || !this.#addresses.isAnyBusy) return;
    const now = performance.now();
    const key = this.#keyOf(address);
    const seconds = this.#addresses.secondsShut(key, mayBeProven ? RESERVED_SHARE : 0, now);
    if (seconds > 0 && !this.#isProven(credentials)) throw this.#refusal(this.#addresses, key, seconds, { address });
  }

  /**
   * Has a request wait while its address has too much under way, or has used much lately.
   * @returns undefined when it can go on at once
   * @throws WorkUsedUp when too many wait
   */
  takeTurn(request: AddressRequest): Promise<void> | undefined {
    const { clientAddress: address, credentials, isOfMachine } = request;
    if (address === undefined || this.#addresses.isUnlimited) return undefined;
    const mayBeBusy = this.#addresses.isAnyBusy;
    // A server that asks for many users is no flood, until it turns out to be.
    if (!mayBeBusy && isOfMachine) return undefined;
    const key = this.#keyOf(address);
    const isBusy = mayBeBusy && this.#addresses.isBusy(key, performance.now());
    if (!isBusy && (isOfMachine || this.#turns.begin(key, request))) return undefined;
    if (this.#isProven(credentials)) return undefined;
    // Neither stands behind a flood of the other.
    const line = isOfMachine ? `${key} machine` : key;
    const turn = this.#turns.wait(line, request);
    if (turn === undefined) throw this.#refusal(this.#addresses, key, 1, { address });
    return turn;
  }

  /** A request is over that may have taken a turn. */
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

  /** IPv6 addresses take time to parse. */
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
      this.#log.warn('http.work.exceeded', 'requests refused: limits.work is used up', {
        'client.address': who.address,
        account: who.account,
        client: who.client,
        retry_after: retryAfterSeconds,
      });
    }
    return new WorkUsedUp(retryAfterSeconds, buckets.refuse(key, now));
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
