import { invalidMetadata, type MetadataMembers } from './metadata-members.ts';
import { pageUriProblem } from './registered-uris.ts';

const MAX_KEYS = 20;
/** RFC 7518 6: members of a key that nobody but its owner may have. */
const PRIVATE_KEY_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Keys have no use for the methods that are offered; a client that shows a private one has to be told. */
export function readKeys(members: MetadataMembers): void {
  const uri = members.text('jwks_uri');
  const set = members.get('jwks');
  if (set !== undefined && uri !== undefined) throw invalidMetadata('jwks', 'and jwks_uri exclude each other');
  if (uri !== undefined) {
    const problem = pageUriProblem(uri, { allowHostMismatch: true, allowInsecureUris: false });
    if (problem !== undefined) throw invalidMetadata('jwks_uri', problem);
  }
  if (set === undefined) return;
  const keys = typeof set === 'object' && set !== null ? new Map(Object.entries(set)).get('keys') : undefined;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS)
    throw invalidMetadata('jwks', `must hold a list of at most ${MAX_KEYS} keys`);
  const seen = new Set<unknown>();
  for (const key of keys) {
    const ofKey: Map<string, unknown> = new Map(Object.entries(typeof key === 'object' && key !== null ? key : {}));
    if (typeof ofKey.get('kty') !== 'string') throw invalidMetadata('jwks', 'holds something that is not a key');
    if (PRIVATE_KEY_MEMBERS.some((name) => ofKey.has(name))) {
      throw invalidMetadata('jwks', 'holds a private key: replace that key, and register the public one');
    }
    const kid = ofKey.get('kid');
    if (kid !== undefined && seen.has(kid)) throw invalidMetadata('jwks', 'holds two keys with one kid');
    seen.add(kid);
  }
}
