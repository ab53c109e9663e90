/**
 * Public keys that others publish as key sets: clients at their `jwks_uri`, sign-in providers at theirs. A copy of each
 * set is kept in memory.
 */
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { CalledServer } from '#platform/outbound-http/call-metrics.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { type CompactJws, isSignedBy } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';

/** Keys that are tried when a signature does not say which one made it. */
const MAX_TRIED = 5;
/** Between two requests for one set, whatever came of the first. */
const RETRY_MS = 60_000;
/** How long a copy serves while no newer one can be had. */
const MAX_AGE_MS = 86_400_000;
const MAX_PUBLISHED_SETS = 1_000;
/** Of all sets: the largest keys take three KiB each. */
const MAX_PUBLISHED_KEYS = 5_000;
/**
 * Requests that wait for keys of clients that registered themselves, for one set and in all. The owner of a slow host
 * must not hold up as many as this process works on at once.
 */
const MAX_WAITING_FOR_SET = 32;
const MAX_WAITING = 128;
const BUSY_RETRY_SECONDS = 5;

export type KeySignature =
  | { readonly ok: true }
  /**
   * `unknown-key`: there is none of this algorithm, or none with this `kid`. `keys-unavailable`: the keys cannot be
   * fetched from where they are published.
   */
  | { readonly ok: false; readonly reason: 'unknown-key' | 'bad-signature' | 'keys-unavailable' };

export interface KeySetAddress {
  readonly uri: string;
  /** It stands in the operator's configuration, or was published by a server that does. */
  readonly isConfigured: boolean;
  /** Whose they are, for the metrics; `clients` unless given. */
  readonly server?: CalledServer;
}

interface PublishedSet {
  /** Undefined: never fetched. */
  readonly copy: { readonly keys: readonly VerificationKey[]; readonly fetchedAt: number } | undefined;
  readonly freshUntil: number;
  readonly askedAt: number;
}

const NEVER: PublishedSet = { copy: undefined, freshUntil: 0, askedAt: Number.NEGATIVE_INFINITY };

export class PublishedKeys {
  readonly #outbound: Pick<OutboundHttp, 'get'>;
  readonly #clock: Clock;
  /** By address, in order of asking: clients that share one share its copy, and what it costs its server. */
  readonly #published = new Map<string, PublishedSet>();
  #publishedKeyCount = 0;
  readonly #pending = new Map<string, Promise<PublishedSet>>();
  /** Requests that wait, by address. */
  readonly #waiting = new Map<string, number>();
  #waitingCount = 0;

  constructor(deps: { readonly outbound: Pick<OutboundHttp, 'get'>; readonly clock: Clock }) {
    this.#outbound = deps.outbound;
    this.#clock = deps.clock;
  }

  /**
   * Whether a key of the set made the signature. May fetch the set, for five seconds at most: never in a transaction.
   * @throws LatchkeyError `temporarily_unavailable` when too many requests wait for keys
   */
  async verify(address: KeySetAddress, jws: CompactJws): Promise<KeySignature> {
    const keys = await this.#keysFor(address, jws);
    if (keys === undefined) return { ok: false, reason: 'keys-unavailable' };
    const outcome = await verifyByKeys(keys, jws);
    if (outcome.ok || outcome.reason !== 'bad-signature' || !this.#mayAsk(address)) return outcome;
    // The owner may have replaced a key and kept its `kid`.
    const { copy } = await this.#ask(address);
    return copy === undefined ? outcome : await verifyByKeys(copy.keys, jws);
  }

  /** Fetched again when the copy is no longer fresh, or has no key that fits: its owner may have a new one. */
  async #keysFor(address: KeySetAddress, jws: CompactJws): Promise<readonly VerificationKey[] | undefined> {
    const now = this.#clock.now();
    let set = this.#published.get(cacheKey(address)) ?? NEVER;
    const isUseful = now < set.freshUntil && set.copy?.keys.some((key) => fits(key, jws)) === true;
    if (!isUseful && this.#mayAsk(address)) set = await this.#ask(address);
    return set.copy !== undefined && now - set.copy.fetchedAt <= MAX_AGE_MS ? set.copy.keys : undefined;
  }

  /** At most once a minute, whatever came of it: a stranger can send a wrong signature at any time. */
  #mayAsk(address: KeySetAddress): boolean {
    const { askedAt } = this.#published.get(cacheKey(address)) ?? NEVER;
    return this.#clock.now() - askedAt >= RETRY_MS;
  }

  async #ask(address: KeySetAddress): Promise<PublishedSet> {
    return await (address.isConfigured ? this.#download(address) : this.#downloadWithinBounds(address));
  }

  async #downloadWithinBounds(address: KeySetAddress): Promise<PublishedSet> {
    const { uri } = address;
    const waiting = this.#waiting.get(uri) ?? 0;
    if (waiting >= MAX_WAITING_FOR_SET || this.#waitingCount >= MAX_WAITING) {
      throw new LatchkeyError('temporarily_unavailable', {
        description: 'Too many requests wait for the keys of clients. Try again later.',
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

  /** Several requests at once share one. */
  async #download(address: KeySetAddress): Promise<PublishedSet> {
    const cached = cacheKey(address);
    const pending = this.#pending.get(cached);
    // Another task's promise: continue as a stretch of our own.
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
      const { copy, askedAt } = this.#published.get(cacheKey(address)) ?? NEVER;
      const wasAsked = fetched.ok || fetched.reason !== 'busy';
      return { copy, freshUntil: 0, askedAt: wasAsked ? now : askedAt };
    }
    return { copy: { keys, fetchedAt: now }, freshUntil: now + fetched.freshForSeconds * 1000, askedAt: now };
  }
}

/** Whether one of the keys made the signature; one with a shared secret is never good. */
export async function verifyByKeys(keys: readonly VerificationKey[], jws: CompactJws): Promise<KeySignature> {
  const candidates = keys.filter((key) => fits(key, jws));
  for (const { key } of candidates.slice(0, MAX_TRIED)) {
    if (await isSignedBy(jws, key)) return { ok: true };
  }
  return { ok: false, reason: candidates.length === 0 ? 'unknown-key' : 'bad-signature' };
}

/** A configured address may lead to inner networks; what is fetched from there is not for other clients. */
function cacheKey({ uri, isConfigured }: KeySetAddress): string {
  return `${isConfigured} ${uri}`;
}

/** Undefined when it is no key set. */
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

/** A key without a `kid` may be the one that is meant; so may each key when the signature names none. */
function fits({ kid, algorithms }: VerificationKey, { algorithm, keyId }: CompactJws): boolean {
  const isNamed = kid === undefined || keyId === undefined || kid === keyId;
  return isNamed && algorithms.some((possible) => possible === algorithm);
}
