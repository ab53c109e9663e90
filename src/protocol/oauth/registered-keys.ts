import { parseKeySet, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import { settledName } from '#protocol/jose/signing-algorithms.ts';
import { invalidMetadata, type MetadataMembers } from './metadata-members.ts';
import { pageUriProblem } from './registered-uris.ts';

/** As received; some of the keys may not be usable. */
export interface RegisteredKeySet {
  readonly keys: readonly unknown[];
}

interface RegisteredKeys {
  /** At most one of the two is present. */
  readonly jwks?: RegisteredKeySet;
  readonly uri?: string;
  readonly usable: readonly VerificationKey[];
}

/** Reads the public keys of a client. A private key is an error, so that the developer notices. */
export function readKeys(members: MetadataMembers): RegisteredKeys {
  const uri = members.text('jwks_uri');
  const set = members.get('jwks');
  if (set !== undefined && uri !== undefined) throw invalidMetadata('jwks', 'and jwks_uri must not be used together');
  if (uri !== undefined) {
    const problem = pageUriProblem(uri, { allowHostMismatch: true, allowInsecureUris: false });
    if (problem !== undefined) throw invalidMetadata('jwks_uri', problem.text);
    return { uri, usable: [] };
  }
  if (set === undefined) return { usable: [] };
  const outcome = parseKeySet(set);
  if (!outcome.ok) throw invalidMetadata('jwks', outcome.problem);
  return { jwks: { keys: outcome.given }, usable: outcome.usable };
}

/**
 * Requires a key from a client that signs (OpenID Connect Core 1.0 section 9).
 * @param algorithm that the client signs with; undefined for any
 * @param purpose what needs the key
 */
export function requireKey(keys: RegisteredKeys, algorithm: string | undefined, purpose: string): void {
  // Published keys are checked when the client uses them.
  if (keys.uri !== undefined) return;
  if (keys.jwks === undefined) throw invalidMetadata('jwks', `or jwks_uri is required for ${purpose}`);
  if (algorithm === undefined) {
    if (keys.usable.length === 0) throw invalidMetadata('jwks', `must contain a signing key for ${purpose}`);
  } else if (!canSignWith(keys.usable, algorithm)) {
    throw invalidMetadata('jwks', `must contain a key for ${algorithm}`);
  }
}

/** Returns whether one of these keys verifies signatures of an algorithm, by either of its names. */
export function canSignWith(keys: readonly VerificationKey[], algorithm: string): boolean {
  return keys.some(({ algorithms }) => algorithms.some((possible) => possible === settledName(algorithm)));
}
