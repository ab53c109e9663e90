/**
 * What clients sign with their private keys (client assertions, request objects), judged by the keys that they are
 * registered with: a set of their own record, or one that they publish (oauth 5.3).
 */
import { type KeySignature, type PublishedKeys, verifyByKeys } from '#domain/published-keys/published-keys.ts';
import type { CompactJws } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import type { Client } from './client.ts';

export class ClientKeys {
  readonly #published: PublishedKeys;
  readonly #inline = new WeakMap<Client, readonly VerificationKey[]>();

  constructor(published: PublishedKeys) {
    this.#published = published;
  }

  /**
   * Whether a key of the client made the signature; one with a shared secret is never good. May fetch the keys, for five
   * seconds at most: never to be called in a transaction.
   * @throws LatchkeyError `temporarily_unavailable` when too many requests wait for keys
   */
  async verify(client: Client, jws: CompactJws): Promise<KeySignature> {
    const { jwksUri, isStatic } = client;
    if (jwksUri === undefined) return await verifyByKeys(this.#inlineKeys(client), jws);
    return await this.#published.verify({ uri: jwksUri, isConfigured: isStatic }, jws);
  }

  #inlineKeys(client: Client): readonly VerificationKey[] {
    const known = this.#inline.get(client);
    if (known !== undefined) return known;
    const keys = usableKeys(client.jwks);
    this.#inline.set(client, keys);
    return keys;
  }
}
