import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { outside } from '#platform/base/tasks.ts';
import type { SigningAlgorithm } from './signing-algorithms.ts';

/** Types of generated keys, by their names on the command line. */
export const KEY_TYPES = ['rsa2048', 'rsa3072', 'rsa4096', 'p256', 'p384', 'p521', 'k256', 'ed25519'] as const;

export type KeyType = (typeof KEY_TYPES)[number];

const CURVES: Readonly<Record<string, KeyType>> = {
  prime256v1: 'p256',
  secp384r1: 'p384',
  secp521r1: 'p521',
  secp256k1: 'k256',
};

const ALGORITHMS: Readonly<Record<KeyType, SigningAlgorithm>> = {
  rsa2048: 'RS256',
  rsa3072: 'RS256',
  rsa4096: 'RS256',
  p256: 'ES256',
  p384: 'ES384',
  p521: 'ES512',
  k256: 'ES256K',
  ed25519: 'EdDSA',
};

const generate = promisify(generateKeyPair);

/** Generates a private key as PKCS#8 in PEM, off the main thread. */
export async function generatePrivateKey(type: KeyType): Promise<string> {
  const { privateKey } = await generatePair(type);
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function generatePair(type: KeyType): Promise<{ readonly privateKey: KeyObject }> {
  if (type === 'ed25519') return outside(generate('ed25519', {}));
  const curve = Object.keys(CURVES).find((name) => CURVES[name] === type);
  if (curve !== undefined) return outside(generate('ec', { namedCurve: curve }));
  return outside(generate('rsa', { modulusLength: Number(type.slice('rsa'.length)) }));
}

/** Returns one of the types, or `rsa` and the number of bits for other lengths. */
export function keyTypeOf(key: KeyObject): string {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') return `rsa${modulusLength}`;
  return CURVES[namedCurve ?? ''] ?? key.asymmetricKeyType ?? 'unknown';
}

export function isKeyType(text: string | undefined): text is KeyType {
  return KEY_TYPES.some((type) => type === text);
}

/** Returns the algorithm that a key of the type signs with, unless its entry sets another one. */
export function keyTypeAlgorithm(type: KeyType): SigningAlgorithm {
  return ALGORITHMS[type];
}

/** Returns the default name of a key file, without the extension. */
export function standardStem(type: KeyType): string {
  return type.replace(/^rsa/, 'rsa-').replace(/^(?=[pk]\d)/, 'ec-');
}
