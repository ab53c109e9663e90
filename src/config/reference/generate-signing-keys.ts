import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** Fresh RSA, P-256 and Ed25519 keys as PKCS#8 in PEM, in the order in which they sign. */
export async function generateSigningKeys(): Promise<string[]> {
  const pairs = await Promise.all([
    generate('rsa', { modulusLength: 2048 }),
    generate('ec', { namedCurve: 'P-256' }),
    generate('ed25519', {}),
  ]);
  return pairs.map(({ privateKey }) => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}
