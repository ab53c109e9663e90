/** What is generated in the data directory: the root key of everything sealed, and the signing keys. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';

const ENCRYPTION_KEY_FILE = 'encryption.key';
const ENCRYPTION_KEY = /^[0-9a-f]{64}$/;

/** Whether the root key was generated before: if not, and the database holds sealed rows, it was lost. */
export async function hasEncryptionKey(dataDir: string): Promise<boolean> {
  return (await readIfThere(join(dataDir, ENCRYPTION_KEY_FILE))) !== undefined;
}

/**
 * The generated value of `secrets.encryption`, 64 hexadecimal characters.
 * @throws ExitError 78 when the file holds something else; it is never replaced, since rows are sealed under it
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
  throw new ExitError(ExitCode.config, `${path} does not hold 64 hexadecimal characters; put the right file back`);
}

const generate = promisify(generateKeyPair);

/**
 * RS256, ES256 and EdDSA; the work is done off the main thread. Other keys in the directory are used too, but none is
 * made of a kind that common verifiers do not know, since they refuse the whole set for it.
 */
const SIGNING_KEYS: readonly { readonly name: string; readonly generate: () => Promise<{ privateKey: KeyObject }> }[] =
  [
    { name: 'rsa-2048.pem', generate: () => generate('rsa', { modulusLength: 2048 }) },
    { name: 'ec-p256.pem', generate: () => generate('ec', { namedCurve: 'P-256' }) },
    { name: 'ed25519.pem', generate: () => generate('ed25519') },
  ];

/** Makes the signing keys that are missing (PKCS#8, mode 0600); returns their directory. */
export async function makeSigningKeys(dataDir: string): Promise<string> {
  const directory = join(dataDir, 'keys');
  await makePrivateDirectory(directory);
  await Promise.all(SIGNING_KEYS.map((key) => makeUnlessThere(join(directory, key.name), key.generate)));
  return directory;
}

async function makeUnlessThere(path: string, generateKey: () => Promise<{ privateKey: KeyObject }>): Promise<void> {
  if ((await readIfThere(path)) !== undefined) return;
  const { privateKey } = await generateKey();
  await writeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** Notes which version last wrote the directory, for whoever has to repair or downgrade it. */
export async function writeVersion(dataDir: string, version: string): Promise<void> {
  const path = join(dataDir, 'VERSION');
  if ((await readIfThere(path)) === `${version}\n`) return;
  await rename(await writePrepared(path, `${version}\n`), path);
}

/** The text of a file, or undefined when there is none. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Makes a directory of mode 0700 unless it is there, durably. */
async function makePrivateDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncDirectory(dirname(path));
}

/**
 * Writes a file of mode 0600 unless one of that name is there: under a temporary name first, then hard-linked, so that
 * of two racing processes one wins whole, and a crash leaves the file complete or absent.
 * @returns false when another process was faster
 */
async function writeOnce(path: string, text: string): Promise<boolean> {
  const prepared = await writePrepared(path, text);
  try {
    await link(prepared, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(prepared, { force: true });
    await syncDirectory(dirname(path));
  }
}

/** Writes and flushes a file of mode 0600 next to `path`; returns its temporary name. */
async function writePrepared(path: string, text: string): Promise<string> {
  const prepared = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(prepared, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return prepared;
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
