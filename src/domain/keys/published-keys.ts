/**
 * Public keys that others publish as key sets: clients at their `jwks_uri`, upstream providers at theirs. A copy of
 * each set is cached in memory.
 */
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { CalledServer } from '#platform/outbound-http/call-metrics.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { type CompactJws, isSignedBy } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';

/** Keys tried if a signature does not name its key. */
const MAX_TRIED = 5;
/** Minimum time between two requests for a set, whether or not the first succeeded. */
const RETRY_MS = 60_000;
/** How long a copy is used while no newer one is available. */
const MAX_AGE_MS = 86_400_000;
const MAX_PUBLISHED_SETS = 1_000;
/** Limit for all sets together. The largest keys take two KiB each, and 14 KiB once they have verified a signature. */
const MAX_PUBLISHED_KEYS = 5_000;
/**
 * Limits on requests that wait for keys of dynamically registered clients, per set and in total. A slow host must not
 * block as many requests as this process handles concurrently.
 */
const MAX_WAITING_FOR_SET = 32;
const MAX_WAITING = 128;
const BUSY_RETRY_SECONDS = 5;

export type KeySignature =
  | { readonly ok: true }
  /** `unknown-key`: no key matches the algorithm or the `kid`. `keys-unavailable`: the key set could not be fetched. */
  | { readonly ok: false; readonly reason: 'unknown-key' | 'bad-signature' | 'keys-unavailable' };

export interface KeySetAddress {
  readonly uri: string;
  /** The URL is in the operator's configuration, or was published by a configured server. */
  readonly isConfigured: boolean;
  /** Owner of the keys, for the metrics. Defaults to `clients`. */
  readonly server?: CalledServer;
}

interface PublishedSet {
  /** Undefined if never fetched. */
  readonly copy: { readonly keys: readonly VerificationKey[]; readonly fetchedAt: number } | undefined;
  readonly freshUntil: number;
  readonly askedAt: number;
}

const NEVER: PublishedSet = { copy: undefined, freshUntil: 0, askedAt: Number.NEGATIVE_INFINITY };

export class PublishedKeys {
  readonly #outbound: Pick<OutboundHttp, 'get'>;
  readonly #clock: Clock;
  /** By URL, in the order of requests. Clients with the same URL share a copy and its request limit. */
  readonly #published = new Map<string, PublishedSet>();
  #publishedKeyCount = 0;
  readonly #pending = new Map<string, Promise<PublishedSet>>();
  /** Number of waiting requests by URL. */
  readonly #waiting = new Map<string, number>();
  #waitingCount = 0;

  constructor(deps: { readonly outbound: Pick<OutboundHttp, 'get'>; readonly clock: Clock }) {
    this.#outbound = deps.outbound;
    this.#clock = deps.clock;
  }

  /**
   * Returns whether a key of the set made the signature. May fetch the set, for up to five seconds, so never call this
   * in a transaction.
   * @throws LatchkeyError `temporarily_unavailable` if too many requests wait for keys
   */
  async verify(address: KeySetAddress, jws: CompactJws): Promise<KeySignature> {
    const keys = await this.#keysFor(address, jws);
    if (keys === undefined) return { ok: false, reason: 'keys-unavailable' };
    const outcome = await verifyByKeys(keys, jws);
    if (outcome.ok || outcome.reason !== 'bad-signature' || !this.#mayAsk(address)) return outcome;
    // The owner may have replaced a key without changing its `kid`.
    const { copy } = await this.#ask(address);
    return copy === undefined ? outcome : await verifyByKeys(copy.keys, jws);
  }

  /** Refetches the set if the copy is stale or has no matching key, because the owner may have a new one. */
  async #keysFor(address: KeySetAddress, jws: CompactJws): Promise<readonly VerificationKey[] | undefined> {
    const now = this.#clock.now();
    let set = this.#published.get(cacheKey(address)) ?? NEVER;
    const isUseful = now < set.freshUntil && set.copy?.keys.some((key) => fits(key, jws)) === true;
    if (!isUseful && this.#mayAsk(address)) set = await this.#ask(address);
    return set.copy !== undefined && now - set.copy.fetchedAt <= MAX_AGE_MS ? set.copy.keys : undefined;
  }

  /** Allows one attempt per minute, successful or not, because anyone can send an invalid signature at any time. */
  #mayAsk(address: KeySetAddress): boolean {
    const { askedAt: requestedAt } = this.#published.get(cacheKey(address)) ?? NEVER;
    return this.#clock.now() - requestedAt >= RETRY_MS;
  }

  async #ask(address: KeySetAddress): Promise<PublishedSet> {
    return await (address.isConfigured ? this.#download(address) : this.#downloadWithinBounds(address));
  }

  async #downloadWithinBounds(address: KeySetAddress): Promise<PublishedSet> {
    const { uri } = address;
    const waiting = this.#waiting.get(uri) ?? 0;
    if (waiting >= MAX_WAITING_FOR_SET || this.#waitingCount >= MAX_WAITING) {
      throw new LatchkeyError('temporarily_unavailable', {
        description: 'Too many requests are waiting for client keys. Retry later.',
        retryAfterSeconds: BUSY_RETRY_SECONDS,
        details: { refusal: 'keys_awaited', host: new URL(uri).host },
      });
    }
    this.#waiting.set(uri, waiting + 1);
    this.#waitingCount += 1;
    try {
      return await this.#download(address);
    } finally {
      this.#waitingCount -= 1;
      const left = (this.#waiting.get(uri) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(uri);
      else this.#waiting.set(uri, left);
    }
  }

  /** Concurrent requests share one download. */
  async #download(address: KeySetAddress): Promise<PublishedSet> {
    const cached = cacheKey(address);
    const pending = this.#pending.get(cached);
    // The promise belongs to a different task: continue in a new stretch of this one.
    if (pending !== undefined) return await outside(pending);
    const fetching = this.#fetchNow(address);
    this.#pending.set(cached, fetching);
    try {
      const set = await fetching;
      this.#forget(cached);
      this.#published.set(cached, set);
      this.#publishedKeyCount += set.copy?.keys.length ?? 0;
      for (const oldest of this.#published.keys()) {
        if (this.#published.size <= MAX_PUBLISHED_SETS && this.#publishedKeyCount <= MAX_PUBLISHED_KEYS) break;
        this.#forget(oldest);
      }
      return set;
    } finally {
      this.#pending.delete(cached);
    }
  }

  #forget(cached: string): void {
    this.#publishedKeyCount -= this.#published.get(cached)?.copy?.keys.length ?? 0;
    this.#published.delete(cached);
  }

  async #fetchNow(address: KeySetAddress): Promise<PublishedSet> {
    const fetched = await this.#outbound.get(address.uri, {
      accept: 'application/jwk-set+json, application/json',
      isConfigured: address.isConfigured,
      server: address.server,
    });
    const now = this.#clock.now();
    const keys = fetched.ok ? keysOf(fetched.body) : undefined;
    if (!fetched.ok || keys === undefined) {
      const { copy, askedAt: requestedAt } = this.#published.get(cacheKey(address)) ?? NEVER;
      const wasRequested = fetched.ok || fetched.reason !== 'busy';
      return { copy, freshUntil: 0, askedAt: wasRequested ? now : requestedAt };
    }
    return { copy: { keys, fetchedAt: now }, freshUntil: now + fetched.freshForSeconds * 1000, askedAt: now };
  }
}

/** Returns whether one of the keys made the signature. Never accepts shared secrets. */
export async function verifyByKeys(keys: readonly VerificationKey[], jws: CompactJws): Promise<KeySignature> {
  const candidates = keys.filter((key) => fits(key, jws));
  for (const { key } of candidates.slice(0, MAX_TRIED)) {
    if (await isSignedBy(jws, key)) return { ok: true };
  }
  return { ok: false, reason: candidates.length === 0 ? 'unknown-key' : 'bad-signature' };
}

/** A configured URL may point into internal networks. Its content must not be available to other clients. */
function cacheKey({ uri, isConfigured }: KeySetAddress): string {
  return `${isConfigured} ${uri}`;
}

/** Returns undefined if the body is not a key set. */
function keysOf(body: Buffer): readonly VerificationKey[] | undefined {
  try {
    const set = parseJson(body);
    return isKeySet(set) ? usableKeys(set) : undefined;
  } catch {
    return undefined;
  }
}

function isKeySet(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);
}

/** A key without a `kid` may match, and so may every key if the signature has no `kid`. */
function fits({ kid, algorithms }: VerificationKey, { algorithm, keyId }: CompactJws): boolean {
  const isNamed = kid === undefined || keyId === undefined || kid === keyId;
  return isNamed && algorithms.some((possible) => possible === algorithm);
}
