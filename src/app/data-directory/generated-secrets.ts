/** Generates secrets in the data directory: the root encryption key and the signing keys. */
import { createPrivateKey } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isKeyFileName, isPublishedOnly } from '#config/sections/key-file-names.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { readIfThere, syncDirectory } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { generatePrivateKey } from '#protocol/jose/key-types.ts';
import { algorithmsOfKey } from '#protocol/jose/signing-algorithms.ts';
import { replaceFile, writeOnce } from './durable-files.ts';

const ENCRYPTION_KEY_FILE = 'encryption.key';
const ENCRYPTION_KEY = /^[0-9a-f]{64}$/;

/**
 * Returns true if the root key has been generated. If not, and the database contains encrypted rows, the key was lost.
 */
export async function hasEncryptionKey(dataDir: string): Promise<boolean> {
  return (await readIfThere(join(dataDir, ENCRYPTION_KEY_FILE))) !== undefined;
}

/**
 * Returns the generated value of `secrets.encryption`, 64 hexadecimal characters.
 * @throws ExitError 78 if the file holds something else; it is never replaced, because rows are encrypted with it
 */
export async function readOrMakeEncryptionKey(dataDir: string): Promise<string> {
  const path = join(dataDir, ENCRYPTION_KEY_FILE);
  const known = await readIfThere(path);
  if (known !== undefined) return checkedKey(path, known);
  const made = randomBytes(32).toString('hex');
  if (await writeOnce(path, `${made}\n`)) return made;
  return checkedKey(path, (await readIfThere(path)) ?? '');
}

function checkedKey(path: string, text: string): string {
  const key = text.trim();
  if (ENCRYPTION_KEY.test(key)) return key;
  throw new ExitError(ExitCode.config, `${path} does not contain 64 hexadecimal characters; restore the original file`);
}

/**
 * RS256, ES256 and EdDSA. Other keys in the directory are used too. Key types that common verifiers do not know are not
 * generated, because those verifiers reject the whole key set.
 */
const SIGNING_KEYS = [
  { name: 'rsa-2048.pem', type: 'rsa2048', algorithm: 'RS256' },
  { name: 'ec-p256.pem', type: 'p256', algorithm: 'ES256' },
  { name: 'ed25519.pem', type: 'ed25519', algorithm: 'EdDSA' },
] as const;

/**
 * Generates a signing key (PKCS#8, mode 0600) for each algorithm without a signing key in the directory. A key that was
 * rotated under another name is therefore not generated again. Returns the directory.
 */
export async function makeSigningKeys(dataDir: string): Promise<string> {
  const directory = join(dataDir, 'keys');
  await makePrivateDirectory(directory);
  const present = await algorithmsIn(directory);
  await Promise.all(
    SIGNING_KEYS.map(async ({ name, type, algorithm }) => {
      const path = join(directory, name);
      if (present.has(algorithm) || (await readIfThere(path)) !== undefined) return;
      await writeOnce(path, await generatePrivateKey(type));
    }),
  );
  return directory;
}

/** Returns the signing algorithms of a directory. Files without a valid key are reported when the keys are loaded. */
async function algorithmsIn(directory: string): Promise<ReadonlySet<string>> {
  const names = (await readdir(directory)).filter((name) => isKeyFileName(name) && !isPublishedOnly(name));
  const algorithms = await Promise.all(names.map(async (name) => await algorithmOf(join(directory, name))));
  return new Set(algorithms.filter((algorithm) => algorithm !== undefined));
}

async function algorithmOf(path: string): Promise<string | undefined> {
  try {
    return algorithmsOfKey(createPrivateKey(await readFile(path)))[0];
  } catch {
    return undefined;
  }
}

/** Records the last version that wrote the directory, for repairs and downgrades. */
export async function writeVersion(dataDir: string, version: string): Promise<void> {
  const path = join(dataDir, 'VERSION');
  if ((await readIfThere(path)) === `${version}\n`) return;
  await replaceFile(path, `${version}\n`);
}

/** Creates a directory of mode 0700 durably, unless it exists. */
export async function makePrivateDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncDirectory(dirname(path));
}
