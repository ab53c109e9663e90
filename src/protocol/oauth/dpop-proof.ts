/**
 * Validates DPoP proofs, which show that the sender of a request has a key. Makes no queries, so a valid proof may
 * still be a replay.
 * @see RFC 9449 4.3
 */
import { sha256 } from '#platform/base/secret.ts';
import { parseUrl } from '#platform/base/url.ts';
import { isSignedByPresentedKey, parseCompactJws } from '../jose/compact-jws.ts';
import { keyThumbprint, parsePublicKey } from '../jose/json-web-keys.ts';

/** The request that a proof must match. */
export interface RequestOfProof {
  readonly method: string;
  /** Without query and fragment, as known to clients. */
  readonly url: string;
  /** Undefined if the request has none. */
  readonly accessToken: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface DpopProof {
  /** Thumbprint of the key (RFC 7638) in base64url. */
  readonly thumbprint: string;
  /** Signature algorithm named in the proof. */
  readonly algorithm: string;
  readonly id: string;
  readonly nonce: string | undefined;
}

/** `problem`: a sentence for the developer. */
export type ProofOutcome =
  | { readonly ok: true; readonly proof: DpopProof }
  | { readonly ok: false; readonly problem: string };

const MAX_CHARACTERS = 8192;
const MAX_ID_CHARACTERS = 255;
const MAX_AGE_MS = 60_000;
const MAX_AHEAD_MS = 10_000;
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/;

/** Returns whether a text can be the SHA-256 thumbprint of a key. */
export function isThumbprint(text: string): boolean {
  return THUMBPRINT.test(text);
}

export async function checkDpopProof(text: string, request: RequestOfProof): Promise<ProofOutcome> {
  const jws = text.length > MAX_CHARACTERS ? undefined : parseCompactJws(text);
  if (jws === undefined) return wrong('the DPoP header must be sent once and contain one signed JWT');
  if (jws.type !== 'dpop+jwt') return wrong('the typ of the proof must be dpop+jwt');
  const key = parsePublicKey(jws.header['jwk']);
  if (key === undefined) return wrong('the jwk of the proof must be a public signing key without private members');
  if (!key.algorithms.some((algorithm) => algorithm === jws.algorithm)) {
    return wrong('the alg of the proof must be in dpop_signing_alg_values_supported and match its jwk');
  }
  const problem = claimsProblem(jws.claims, request);
  if (problem !== undefined) return wrong(problem);
  // Comes last, because it is the most expensive check.
  const isGenuine = await isSignedByPresentedKey(jws, key.key);
  if (!isGenuine) return wrong('the signature of the proof cannot be verified with its jwk');
  const { jti, nonce } = jws.claims;
  return {
    ok: true,
    proof: {
      thumbprint: keyThumbprint(key.key),
      algorithm: jws.algorithm,
      id: String(jti),
      nonce: typeof nonce === 'string' ? nonce : undefined,
    },
  };
}

function claimsProblem(claims: Readonly<Record<string, unknown>>, request: RequestOfProof): string | undefined {
  const { jti, htm, htu, iat, ath } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_CHARACTERS) {
    return `the jti of the proof must be a string of 1 to ${MAX_ID_CHARACTERS} characters`;
  }
  if (htm !== request.method) return 'the htm of the proof must be the method of the request';
  if (typeof htu !== 'string' || !isSameUrl(htu, request.url)) {
    return 'the htu of the proof must be the URL of the request';
  }
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 'the iat of the proof must be a number of seconds';
  const age = request.now - iat * 1000;
  if (age > MAX_AGE_MS || age < -MAX_AHEAD_MS) return 'the iat of the proof is too old, or in the future';
  const { accessToken } = request;
  if (accessToken !== undefined && ath !== sha256(accessToken).toString('base64url')) {
    return 'the ath of the proof must be the SHA-256 of the access token';
  }
  return undefined;
}

/** Ignores query and fragment, and normalizes spellings of a URL (RFC 9449 4.3, RFC 3986 6.2.2, 6.2.3). */
function isSameUrl(claimed: string, url: string): boolean {
  const parsed = parseUrl(claimed);
  if (parsed === undefined) return false;
  const { origin, pathname, username, password } = parsed;
  const expected = new URL(url);
  return origin === expected.origin && isSamePath(pathname, expected.pathname) && username === '' && password === '';
}

/** Compares by segment, regardless of percent-encoding (RFC 3986 6.2.2.2). */
function isSamePath(one: string, other: string): boolean {
  const [segments, others] = [one, other].map((path) => path.split('/').map(decodeSegment));
  return segments?.length === others?.length && segments?.every((segment, at) => segment === others?.[at]) === true;
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function wrong(problem: string): ProofOutcome {
  return { ok: false, problem };
}
