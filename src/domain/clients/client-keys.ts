/**
 * Verifies client signatures (client assertions, request objects) with the client's registered keys: inline in its
 * record or published at its `jwks_uri` (oauth 5.3).
 */
import { type KeySignature, type PublishedKeys, verifyByKeys } from '#domain/keys/published-keys.ts';
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
   * Verifies that a key of the client made the signature. Signatures with a shared secret are always rejected. May
   * fetch keys for up to five seconds; never call this in a transaction.
   * @throws LatchkeyError `temporarily_unavailable` if too many requests are waiting for keys
   */
  async verify(client: Client, jws: CompactJws): Promise<KeySignature> {
    const { jwksUri, kind } = client;
    if (jwksUri === undefined) return await verifyByKeys(this.#inlineKeys(client), jws);
    return await this.#published.verify({ uri: jwksUri, isConfigured: kind === 'static' }, jws);
  }

  #inlineKeys(client: Client): readonly VerificationKey[] {
    const known = this.#inline.get(client);
    if (known !== undefined) return known;
    const keys = usableKeys(client.jwks);
    this.#inline.set(client, keys);
    return keys;
  }
}
