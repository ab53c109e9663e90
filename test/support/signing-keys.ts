import { generateKeyPairSync } from 'node:crypto';
import type { SigningKeySource } from '#domain/signing-keys/read-signing-keys.ts';

let made: readonly SigningKeySource[] | undefined;

/** One key of each usual kind, made once for a test process. */
export function testSigningKeys(): readonly SigningKeySource[] {
  made ??= [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ed25519'),
  ].map(({ privateKey }, index) => ({
    name: `key ${index}`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    useForSigning: true,
  }));
  return made;
}
