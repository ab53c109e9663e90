/**
 * The keys that sign what Latchkey issues, and the key set for verifiers (`/oauth2/keys.json`).
 *
 * Keys come from the configuration or from files. An active key signs. Other keys are only published: the next key, or
 * one being retired. Each key has one algorithm, and the first active key of an algorithm signs. The set can be
 * replaced as a whole at runtime.
 */
import { type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { outside } from '#platform/base/tasks.ts';
import { keyThumbprint } from '#protocol/jose/json-web-keys.ts';
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
  /** The source of the key: `secrets.keys[0]` or a file path. */
  readonly name: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: JsonWebKey;
  /** The only algorithm that the key signs with, so that verifiers may use the key's own `alg` or ignore it. */
  readonly algorithm: SigningAlgorithm;
  /** False if the key is only published. */
  readonly isActive: boolean;
}

/** A public key as `/oauth2/keys.json` shows it (RFC 7517 4). */
export type PublishedJwk = JsonWebKey & { readonly kid: string; readonly use: 'sig'; readonly alg: string };

/** A key for display, without the private part. */
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

  /** Replaces the keys with those of another set. Signatures in progress use the key that they started with. */
  replaceWith(other: SigningKeys): void {
    this.#keys = other.#keys;
    this.#signers = other.#signers;
    this.#revision += 1;
  }

  /** Changes with each replacement. Anything derived from the previous keys is then outdated. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the keys in configuration order. */
  list(): readonly ListedKey[] {
    return this.#keys.map((key) => ({
      name: key.name,
      kid: key.kid,
      type: keyTypeOf(key.privateKey),
      algorithm: key.algorithm,
      isSigning: this.#signers.get(key.algorithm) === key,
    }));
  }

  /** Returns the algorithms of active keys, RS256 first. */
  algorithms(): readonly SigningAlgorithm[] {
    return SIGNING_ALGORITHMS.filter((algorithm) => this.#signers.has(algorithm));
  }

  canSign(algorithm: string): boolean {
    return isSigningAlgorithm(algorithm) && this.#signers.has(algorithm);
  }

  /**
   * Returns the published set, with public members only. The RS256 key comes first, then other RSA keys: some verifiers
   * try only the first key, or stop at an unknown key type.
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
   * Returns the claims of a JWT signed by a published key, however old; undefined for any other text.
   * @param type required `typ` header, so that one kind of JWT cannot pass for another (RFC 8725 3.11)
   */
  verifyJwt(token: string, type = 'JWT'): Readonly<Record<string, unknown>> | undefined {
    return verifyJwt(token, type, this.#keys);
  }

  /**
   * Returns a compact JWS over the claims (RFC 7515 3.1). RSA runs in the thread pool, because it would block the event
   * loop for 0.3 ms. The others take about 40 us.
   * @throws Error if no active key has the algorithm, because the operator removed it
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
 * Creates the record of a private key. `kid` defaults to the RFC 7638 SHA-256 thumbprint, and the algorithm to the
 * default of the key type.
 * @throws Error for a key type without a supported algorithm
 */
export function signingKey(
  privateKey: KeyObject,
  publicKey: KeyObject,
  options: { name?: string; kid?: string | undefined; algorithm?: SigningAlgorithm | undefined; isActive: boolean },
): SigningKey {
  const algorithm = options.algorithm ?? algorithmsOfKey(privateKey)[0];
  if (algorithm === undefined) throw new Error('unsupported key type');
  const publicJwk = publicKey.export({ format: 'jwk' });
  const kid = options.kid ?? keyThumbprint(publicKey);
  return {
    name: options.name ?? kid,
    kid,
    privateKey,
    publicJwk,
    algorithm,
    isActive: options.isActive,
  };
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * Returns the claims of a compact JWT signed by one of the keys, without interpreting them; undefined for any other
 * text. The header names the algorithm, but only those that the key type supports are accepted (RFC 8725 3.1). The key
 * may have had another algorithm earlier.
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
