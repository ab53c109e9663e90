import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import type { SigningKeySource } from '#domain/keys/read-signing-keys.ts';
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '#protocol/jose/signing-algorithms.ts';

let made: readonly SigningKeySource[] | undefined;

/** Returns one key of each usual kind, generated once per process. */
export function testSigningKeys(): readonly SigningKeySource[] {
  made ??= (['RS256', 'ES256', 'EdDSA'] as const).map(keyFor);
  return made;
}

/** Generates a key for every supported algorithm. */
export function everySigningKey(): readonly SigningKeySource[] {
  return SIGNING_ALGORITHMS.map(keyFor);
}

function keyFor(alg: SigningAlgorithm): SigningKeySource {
  const { privateKey } = keyPairFor(alg);
  return { name: alg, alg, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), useForSigning: true };
}

function keyPairFor(alg: SigningAlgorithm): KeyPairKeyObjectResult {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' });
    case 'ES512':
      return generateKeyPairSync('ec', { namedCurve: 'P-521' });
    case 'ES256K':
      return generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    case 'EdDSA':
      return generateKeyPairSync('ed25519');
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
}
