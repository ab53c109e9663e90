import { parseKeySet, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import { invalidMetadata, type MetadataMembers } from './metadata-members.ts';
import { pageUriProblem } from './registered-uris.ts';

/** As it was given; some of the keys may be of no use here. */
export interface RegisteredKeySet {
  readonly keys: readonly unknown[];
}

interface RegisteredKeys {
  readonly jwks: RegisteredKeySet;
  readonly usable: readonly VerificationKey[];
}

/** The public keys of a client. One that shows a private key has to be told. */
export function readKeys(members: MetadataMembers): RegisteredKeys | undefined {
  const uri = members.text('jwks_uri');
  const set = members.get('jwks');
  if (set !== undefined && uri !== undefined) throw invalidMetadata('jwks', 'and jwks_uri exclude each other');
  if (uri !== undefined) {
    const problem = pageUriProblem(uri, { allowHostMismatch: true, allowInsecureUris: false });
    if (problem !== undefined) throw invalidMetadata('jwks_uri', problem);
  }
  if (set === undefined) return undefined;
  const outcome = parseKeySet(set);
  if (!outcome.ok) throw invalidMetadata('jwks', outcome.problem);
  return { jwks: { keys: outcome.given }, usable: outcome.usable };
}

/** A client that proves itself with a key has to have one (OpenID Connect Core 1.0 section 9). */
export function requireKey(keys: RegisteredKeys | undefined, algorithm: string | undefined): void {
  if (keys === undefined) throw invalidMetadata('jwks', 'is required for private_key_jwt');
  const isThere = keys.usable.some(({ algorithms }) => algorithms.some((possible) => possible === algorithm));
  if (!isThere) throw invalidMetadata('jwks', `must hold a key that signs with ${algorithm}`);
}
