import { parseKeySet } from '#protocol/jose/json-web-keys.ts';
import { invalidMetadata, type MetadataMembers } from './metadata-members.ts';
import { pageUriProblem } from './registered-uris.ts';

/** As it was given; some of the keys may be of no use here. */
export interface RegisteredKeySet {
  readonly keys: readonly unknown[];
}

/** The public keys of a client. One that shows a private key has to be told. */
export function readKeys(members: MetadataMembers): RegisteredKeySet | undefined {
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
  return { keys: outcome.given };
}
