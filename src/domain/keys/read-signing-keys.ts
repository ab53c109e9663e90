import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { ExitError } from '#platform/base/errors.ts';
import { parsePrivateKey } from '#platform/base/private-keys.ts';
import {
  algorithmsOfKey,
  MANDATORY_ALGORITHM,
  type SigningAlgorithm,
  signInput,
} from '#protocol/jose/signing-algorithms.ts';
import { SigningKeys, signingKey } from './signing-keys.ts';

/** A configured key before it is read. */
export interface SigningKeySource {
  /** How messages refer to the entry: `secrets.keys[0]` or a file path. They never contain the key. */
  readonly name: string;
  readonly kid?: string | undefined;
  /** Undefined for the default algorithm of the key type. */
  readonly alg?: SigningAlgorithm | undefined;
  /** PEM text, or DER bytes. */
  readonly key: string | Buffer;
  readonly password?: string | undefined;
  readonly useForSigning: boolean;
}

const MINIMUM_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
const MINIMUM_RSA_EXPONENT = 3n;

/** A problem with one entry, or with all of them together if `name` is undefined. */
export interface SigningKeyProblem {
  readonly name: string | undefined;
  /** Never contains the key. */
  readonly message: string;
}

/** Aborts startup with all problems of the keys. */
export class SigningKeyProblems extends ExitError {
  readonly problems: readonly SigningKeyProblem[];

  constructor(problems: readonly SigningKeyProblem[]) {
    super(78, problems.map(({ name = 'secrets.keys', message }) => `${name}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads PKCS#1, PKCS#8 (also encrypted) and SEC1 keys in PEM or DER form.
 * @throws SigningKeyProblems (exit 78): unreadable, wrong password, unsupported key type, RSA size outside 2048 to 8192
 * bits, an `alg` that the key cannot sign with, a duplicate `kid`, or no RSA key that signs with RS256 (mandatory,
 * OpenID Connect Discovery 3)
 */
export function readSigningKeys(sources: readonly SigningKeySource[]): SigningKeys {
  const problems: SigningKeyProblem[] = [];
  const kids = new Map<string, string>();
  const keys = sources.flatMap((source) => {
    const privateKey = readPrivateKey(source);
    const message = typeof privateKey === 'string' ? privateKey : kindProblem(privateKey, source.alg);
    if (typeof privateKey === 'string' || message !== undefined) {
      problems.push({ name: source.name, message: message ?? '' });
      return [];
    }
    const key = signingKey(privateKey, createPublicKey(privateKey), {
      name: source.name,
      kid: source.kid,
      algorithm: source.alg,
      isActive: source.useForSigning,
    });
    const other = kids.get(key.kid);
    if (other !== undefined) {
      problems.push({ name: source.name, message: `key ID ${key.kid} is already used by ${other}` });
    }
    kids.set(key.kid, source.name);
    return [key];
  });
  const signingKeys = new SigningKeys(keys);
  if (problems.length === 0 && !signingKeys.canSign(MANDATORY_ALGORITHM)) {
    problems.push({
      name: undefined,
      message: `at least one RSA key that signs with ${MANDATORY_ALGORITHM} is required`,
    });
  }
  if (problems.length > 0) throw new SigningKeyProblems(problems);
  return signingKeys;
}

/** Returns the key, or what is wrong with it. */
function readPrivateKey(source: SigningKeySource): KeyObject | string {
  const key = parsePrivateKey(source.key, source.password);
  if (key !== undefined) return key;
  const advice = source.password === undefined ? '; an encrypted key needs its password' : ', or the password is wrong';
  return `not a private key that can be read (PKCS#1, PKCS#8 or SEC1, PEM or DER)${advice}`;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function kindProblem(key: KeyObject, algorithm: SigningAlgorithm | undefined): string | undefined {
  const possible = algorithmsOfKey(key);
  if (possible.length === 0) {
    return 'unsupported key type; use RSA, P-256, P-384, P-521, secp256k1 or Ed25519';
  }
  if (algorithm !== undefined && !possible.includes(algorithm)) {
    return `the key cannot sign with ${algorithm}, only with ${possible.join(', ')}`;
  }
  const { modulusLength: bits, publicExponent } = key.asymmetricKeyDetails ?? {};
  if (bits !== undefined && (bits < MINIMUM_RSA_BITS || bits > MAX_RSA_BITS)) {
    return `RSA keys must have 2048 to 8192 bits; this key has ${bits}`;
  }
  if (publicExponent !== undefined && publicExponent < MINIMUM_RSA_EXPONENT) return 'the RSA exponent is too small';
  return isSound(key, possible) ? undefined : 'the key is damaged: its signatures cannot be verified';
}

/** Makes a test signature, because a damaged key can be parsed too. */
function isSound(key: KeyObject, [algorithm]: readonly SigningAlgorithm[]): boolean {
  if (algorithm === undefined) return false;
  const { digest, input } = signInput(algorithm, key);
  const content = Buffer.from('trial');
  const signature = attempt(() => sign(digest, content, input));
  return signature !== undefined && verify(digest, content, { ...input, key: createPublicKey(key) }, signature);
}
