/**
 * The keys that sign what Latchkey issues, and the set that others verify with (`/oauth2/keys.json`).
 *
 * Keys come from the configuration or from files; an active key signs, one marked otherwise is only published (the
 * next one, or one that retires). Each key has one algorithm, and the first active key of an algorithm signs. The set is
 * replaced as a whole while the service runs.
 */
import { createHash, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { outside } from '#platform/base/tasks.ts';
import { keyTypeOf } from '#protocol/jose/key-types.ts';
import {
  algorithmsOfKey,
  isSigningAlgorithm,
  MANDATORY_ALGORITHM,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
  signInput,
} from '#protocol/jose/signing-algorithms.ts';

const signInThreadPool = promisify(sign);

/** A segment of a compact JWS: base64url without padding. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

export interface SigningKey {
  /** Where it comes from: `secrets.keys[0]` or a file's path. */
  readonly name: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: JsonWebKey;
  /** The only one that it signs with: verifiers that take the key's own `alg`, or none, get it right. */
  readonly algorithm: SigningAlgorithm;
  /** False: published only. */
  readonly isActive: boolean;
}

/** A public key as `/oauth2/keys.json` shows it (RFC 7517 4). */
export type PublishedJwk = JsonWebKey & { readonly kid: string; readonly use: 'sig'; readonly alg: string };

/** One key for people to read; nothing of the private part. */
export interface ListedKey {
  readonly name: string;
  readonly kid: string;
  /** For example `rsa2048` or `p256`. */
  readonly type: string;
  readonly algorithm: SigningAlgorithm;
  readonly isSigning: boolean;
}

export class SigningKeys {
  #keys: readonly SigningKey[];
  #signers: ReadonlyMap<SigningAlgorithm, SigningKey>;
  #revision = 0;

  constructor(keys: readonly SigningKey[]) {
    this.#keys = keys;
    this.#signers = signersOf(keys);
  }

  /** Takes over the keys of another set. What is being signed is signed with the key that it was begun with. */
  replaceWith(other: SigningKeys): void {
    this.#keys = other.#keys;
    this.#signers = other.#signers;
    this.#revision += 1;
  }

  /** Another number after each replacement: what was made of the keys before is out of date. */
  get revision(): number {
    return this.#revision;
  }

  /** In the order of the configuration. */
  list(): readonly ListedKey[] {
    return this.#keys.map((key) => ({
      name: key.name,
      kid: key.kid,
      type: keyTypeOf(key.privateKey),
      algorithm: key.algorithm,
      isSigning: this.#signers.get(key.algorithm) === key,
    }));
  }

  /** What an active key can produce, RS256 first. */
  algorithms(): readonly SigningAlgorithm[] {
    return SIGNING_ALGORITHMS.filter((algorithm) => this.#signers.has(algorithm));
  }

  canSign(algorithm: string): boolean {
    return isSigningAlgorithm(algorithm) && this.#signers.has(algorithm);
  }

  /**
   * The published set: public members only. The key behind RS256 comes first, then other RSA keys: some verifiers try
   * the first key alone, or stop at one whose kind they do not know.
   */
  publicJwks(): { readonly keys: readonly PublishedJwk[] } {
    const rank = (key: SigningKey): number =>
      key === this.#signers.get(MANDATORY_ALGORITHM) ? 0 : key.publicJwk.kty === 'RSA' ? 1 : 2;
    return {
      keys: this.#keys
        .toSorted((one, other) => rank(one) - rank(other))
        .map((key) => ({ ...key.publicJwk, kid: key.kid, use: 'sig', alg: key.algorithm })),
    };
  }

  /**
   * The claims of a JWT that one of the published keys signed, however old it is; undefined for any other text.
   * @param type that its header has to name: those of one kind must not pass for another (RFC 8725 3.11)
   */
  verifyJwt(token: string, type = 'JWT'): Readonly<Record<string, unknown>> | undefined {
    return verifyJwt(token, type, this.#keys);
  }

  /**
   * A compact JWS over the claims (RFC 7515 3.1). RSA works in the thread pool, since it would hold up the loop for
   * 0.3 ms; the others take some 40 us.
   * @throws Error when no active key can produce the algorithm: the operator removed it
   */
  async signJwt(claims: Readonly<Record<string, unknown>>, options: { alg: string; typ?: string }): Promise<string> {
    const { alg } = options;
    const key = isSigningAlgorithm(alg) ? this.#signers.get(alg) : undefined;
    if (key === undefined || !isSigningAlgorithm(alg)) throw new Error(`no active key signs with ${alg}`);
    const header = JSON.stringify({ alg, typ: options.typ ?? 'JWT', kid: key.kid });
    const content = `${base64Url(header)}.${base64Url(JSON.stringify(claims))}`;
    const { digest, input } = signInput(alg, key.privateKey);
    const signature =
      key.privateKey.asymmetricKeyType === 'rsa'
        ? await outside(signInThreadPool(digest, Buffer.from(content), input))
        : sign(digest, Buffer.from(content), input);
    return `${content}.${signature.toString('base64url')}`;
  }
}

function signersOf(keys: readonly SigningKey[]): ReadonlyMap<SigningAlgorithm, SigningKey> {
  const signers = new Map<SigningAlgorithm, SigningKey>();
  for (const key of keys) {
    if (key.isActive && !signers.has(key.algorithm)) signers.set(key.algorithm, key);
  }
  return signers;
}

/**
 * Makes the record of a private key; `kid` defaults to the RFC 7638 SHA-256 thumbprint, the algorithm to the usual one
 * of its kind.
 * @throws Error for a kind of key that no algorithm goes with
 */
export function signingKey(
  privateKey: KeyObject,
  publicKey: KeyObject,
  options: { name?: string; kid?: string | undefined; algorithm?: SigningAlgorithm | undefined; isActive: boolean },
): SigningKey {
  const algorithm = options.algorithm ?? algorithmsOfKey(privateKey)[0];
  if (algorithm === undefined) throw new Error('unsupported kind of key');
  const publicJwk = publicKey.export({ format: 'jwk' });
  const kid = options.kid ?? thumbprint(publicJwk);
  return {
    name: options.name ?? kid,
    kid,
    privateKey,
    publicJwk,
    algorithm,
    isActive: options.isActive,
  };
}

/** RFC 7638 3: the required members in lexicographic order. */
function thumbprint(jwk: JsonWebKey): string {
  const members: Record<string, unknown> =
    jwk.kty === 'RSA'
      ? { e: jwk.e, kty: jwk.kty, n: jwk.n }
      : jwk.kty === 'EC'
        ? { crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y }
        : { crv: jwk.crv, kty: jwk.kty, x: jwk.x };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * The claims of a compact JWT that one of the keys signed, without a look at their meaning; undefined for any other
 * text. The header names the algorithm, but only one that the key's kind can produce counts (RFC 8725 3.1);
 * it may have been another one before.
 */
function verifyJwt(
  token: string,
  type: string,
  keys: readonly SigningKey[],
): Readonly<Record<string, unknown>> | undefined {
  const segments = token.split('.');
  const [head, body, signature] = segments;
  if (segments.length !== 3 || head === undefined || body === undefined || signature === undefined) return undefined;
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
  const header = jsonOf(head);
  const { alg, kid } = header ?? {};
  if (typeof alg !== 'string' || !isSigningAlgorithm(alg) || header?.['typ'] !== type) return undefined;
  const key = keys.find((candidate) => candidate.kid === kid && algorithmsOfKey(candidate.privateKey).includes(alg));
  if (key === undefined) return undefined;
  const { digest, input } = signInput(alg, key.privateKey);
  const isGenuine = verify(digest, Buffer.from(`${head}.${body}`), input, Buffer.from(signature, 'base64url'));
  return isGenuine ? jsonOf(body) : undefined;
}

function jsonOf(segment: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
