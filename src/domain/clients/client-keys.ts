/**
 * What clients sign with their private keys (client assertions, request objects), judged by the keys that they are
 * registered with: a set of their own record, or one that they publish (oauth 5.3).
 */
import type { Clock } from '#platform/base/clock.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { type CompactJws, isSignedBy } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import type { Client } from './client.ts';

/** Keys that are tried when a signature does not say which one made it. */
const MAX_TRIED = 5;
/** Between two requests for one set, whatever came of the first. */
const RETRY_MS = 60_000;
/** How long a copy serves while no newer one can be had. */
const MAX_AGE_MS = 86_400_000;
const MAX_PUBLISHED_SETS = 1_000;

export type ClientSignature =
  | { readonly ok: true }
  /**
   * `unknown-key`: the client has none of this algorithm, or none with this `kid`. `keys-unavailable`: its keys cannot be
   * fetched from where it publishes them.
   */
  | { readonly ok: false; readonly reason: 'unknown-key' | 'bad-signature' | 'keys-unavailable' };

interface PublishedSet {
  /** Undefined: never fetched. */
  readonly copy: { readonly keys: readonly VerificationKey[]; readonly fetchedAt: number } | undefined;
  readonly freshUntil: number;
  readonly askedAt: number;
}

const NEVER: PublishedSet = { copy: undefined, freshUntil: 0, askedAt: Number.NEGATIVE_INFINITY };

export class ClientKeys {
  readonly #outbound: Pick<OutboundHttp, 'get'>;
  readonly #clock: Clock;
  readonly #inline = new WeakMap<Client, readonly VerificationKey[]>();
  /** By address, in order of asking: clients that share one share its copy, and what it costs its server. */
  readonly #published = new Map<string, PublishedSet>();
  readonly #pending = new Map<string, Promise<PublishedSet>>();

  constructor(deps: { readonly outbound: Pick<OutboundHttp, 'get'>; readonly clock: Clock }) {
    this.#outbound = deps.outbound;
    this.#clock = deps.clock;
  }

  /**
   * Whether a key of the client made the signature; one with a shared secret is never good. May fetch the keys, for five
   * seconds at most: never to be called in a transaction.
   */
  async verify(client: Client, jws: CompactJws): Promise<ClientSignature> {
    const keys = client.jwksUri === undefined ? this.#inlineKeys(client) : await this.#publishedKeys(client, jws);
    if (keys === undefined) return { ok: false, reason: 'keys-unavailable' };
    const candidates = keys.filter((key) => fits(key, jws));
    for (const { key } of candidates.slice(0, MAX_TRIED)) {
      if (await isSignedBy(jws, key)) return { ok: true };
    }
    return { ok: false, reason: candidates.length === 0 ? 'unknown-key' : 'bad-signature' };
  }

  #inlineKeys(client: Client): readonly VerificationKey[] {
    const known = this.#inline.get(client);
    if (known !== undefined) return known;
    const keys = usableKeys(client.jwks);
    this.#inline.set(client, keys);
    return keys;
  }

  /** Fetched anew when the copy is no longer fresh, or has no key that fits: the client may have a new one. */
  async #publishedKeys(client: Client, jws: CompactJws): Promise<readonly VerificationKey[] | undefined> {
    const { jwksUri = '', isStatic } = client;
    const now = this.#clock.now();
    let set = this.#published.get(cacheKey(jwksUri, isStatic)) ?? NEVER;
    const isUseful = now < set.freshUntil && set.copy?.keys.some((key) => fits(key, jws)) === true;
    if (!isUseful && now - set.askedAt >= RETRY_MS) set = await this.#download(jwksUri, isStatic);
    return set.copy !== undefined && now - set.copy.fetchedAt <= MAX_AGE_MS ? set.copy.keys : undefined;
  }

  /** Several requests at once share one. */
  async #download(uri: string, isConfigured: boolean): Promise<PublishedSet> {
    const cached = cacheKey(uri, isConfigured);
    const pending = this.#pending.get(cached);
    // Another task's promise: continue as a stretch of our own.
    if (pending !== undefined) return await outside(pending);
    const fetching = this.#fetchNow(uri, isConfigured);
    this.#pending.set(cached, fetching);
    try {
      const set = await fetching;
      this.#published.delete(cached);
      this.#published.set(cached, set);
      const oldest = this.#published.keys().next();
      if (this.#published.size > MAX_PUBLISHED_SETS && oldest.done !== true) this.#published.delete(oldest.value);
      return set;
    } finally {
      this.#pending.delete(cached);
    }
  }

  async #fetchNow(uri: string, isConfigured: boolean): Promise<PublishedSet> {
    const fetched = await this.#outbound.get(uri, {
      accept: 'application/jwk-set+json, application/json',
      isConfigured,
    });
    const now = this.#clock.now();
    const keys = fetched.ok ? keysOf(fetched.body) : undefined;
    if (!fetched.ok || keys === undefined) {
      const { copy } = this.#published.get(cacheKey(uri, isConfigured)) ?? NEVER;
      return { copy, freshUntil: 0, askedAt: now };
    }
    return { copy: { keys, fetchedAt: now }, freshUntil: now + fetched.freshForSeconds * 1000, askedAt: now };
  }
}

/** A configured address may lead to inner networks; what is fetched from there is not for other clients. */
function cacheKey(uri: string, isConfigured: boolean): string {
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
