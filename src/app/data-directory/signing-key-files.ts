import { generateKeyPair, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makePrivateDirectory, readIfThere, writeOnce } from './write-once.ts';

const generate = promisify(generateKeyPair);

/**
 * RS256, ES256 and EdDSA; the work is done off the main thread. Other keys in the directory are used too, but none is
 * made of a kind that common verifiers do not know, since they refuse the whole set for it.
 */
const KEYS: readonly { readonly name: string; readonly generate: () => Promise<{ privateKey: KeyObject }> }[] = [
  { name: 'rsa-2048.pem', generate: () => generate('rsa', { modulusLength: 2048 }) },
  { name: 'ec-p256.pem', generate: () => generate('ec', { namedCurve: 'P-256' }) },
  { name: 'ed25519.pem', generate: () => generate('ed25519') },
];

/** Makes the signing keys that are missing (PKCS#8, mode 0600); returns their directory. */
export async function makeSigningKeys(dataDir: string): Promise<string> {
  const directory = join(dataDir, 'keys');
  await makePrivateDirectory(directory);
  await Promise.all(KEYS.map((key) => makeUnlessThere(join(directory, key.name), key.generate)));
  return directory;
}

async function makeUnlessThere(path: string, generateKey: () => Promise<{ privateKey: KeyObject }>): Promise<void> {
  if ((await readIfThere(path)) !== undefined) return;
  const { privateKey } = await generateKey();
  await writeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}
