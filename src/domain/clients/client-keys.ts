import { type CompactJws, isSignedBy } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import type { Client } from './client.ts';

/** Keys that are tried when a signature does not say which one made it. */
const MAX_TRIED = 5;

export type ClientSignature =
  | { readonly ok: true }
  /** `unknown-key`: the client has none of this algorithm, or none with this `kid`. */
  | { readonly ok: false; readonly reason: 'unknown-key' | 'bad-signature' };

/** Judges what clients sign with their private keys: client assertions, request objects. */
export class ClientKeys {
  readonly #inline = new WeakMap<Client, readonly VerificationKey[]>();

  /** Whether a key of the client made the signature; one with a shared secret is never good. */
  async verify(client: Client, jws: CompactJws): Promise<ClientSignature> {
    const candidates = this.#keysOf(client).filter((key) => fits(key, jws));
    for (const { key } of candidates.slice(0, MAX_TRIED)) {
      if (await isSignedBy(jws, key)) return { ok: true };
    }
    return { ok: false, reason: candidates.length === 0 ? 'unknown-key' : 'bad-signature' };
  }

  #keysOf(client: Client): readonly VerificationKey[] {
    const known = this.#inline.get(client);
    if (known !== undefined) return known;
    const keys = usableKeys(client.jwks);
    this.#inline.set(client, keys);
    return keys;
  }
}

/** A key without a `kid` may be the one that is meant; so may each key when the signature names none. */
function fits({ kid, algorithms }: VerificationKey, { algorithm, keyId }: CompactJws): boolean {
  const isNamed = kid === undefined || keyId === undefined || kid === keyId;
  return isNamed && algorithms.some((possible) => possible === algorithm);
}
