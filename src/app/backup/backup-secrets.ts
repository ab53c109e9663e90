/**
 * The secrets of a data directory in a backup, and the check that a backup and the secrets of a place belong together.
 */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config } from '#config/config.ts';
import { isKeyFileName } from '#config/sections/key-file-names.ts';
import { unknownKeyChecks } from '#domain/server-state/server-state.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { readIfThere } from '#platform/base/files.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { TarFile } from '#platform/tar/tar-archive.ts';
import { writeOnce } from '../data-directory/durable-files.ts';
import { makePrivateDirectory } from '../data-directory/generated-secrets.ts';
import { ENCRYPTION_KEY_NAME, type Manifest } from './manifest.ts';

const KEYS_FOLDER = 'secrets/keys/';

/**
 * The root key, wherever it comes from, and the signing keys in the data directory. Keys that a configuration names are
 * backed up with it.
 */
export async function secretsToBackUp({ dataDir, secrets }: Config): Promise<readonly TarFile[]> {
  const root = secrets.encryption?.reveal() ?? (await readIfThere(join(dataDir, 'encryption.key')))?.trim();
  const files: TarFile[] = root === undefined ? [] : [{ name: ENCRYPTION_KEY_NAME, content: Buffer.from(`${root}\n`) }];
  const directory = join(dataDir, 'keys');
  const names = (await readdir(directory).catch(() => [])).filter(isKeyFileName).sort();
  for (const name of names) {
    const path = join(directory, name);
    if ((await lstat(path)).isFile()) files.push({ name: `${KEYS_FOLDER}${name}`, content: await readFile(path) });
  }
  return files;
}

/**
 * Compares the root keys of this place, or else the one in the backup, with those that sealed what is in it.
 * @throws ExitError 78 when one is missing
 */
export async function requireRightKeys(
  { encryption_key_checks: checks }: Manifest,
  { dataDir, secrets }: Config,
  contained: readonly TarFile[],
): Promise<void> {
  if (checks.length === 0) return;
  const path = join(dataDir, 'encryption.key');
  const stored = await readIfThere(path);
  const packed = contained.find(({ name }) => name === ENCRYPTION_KEY_NAME)?.content.toString('utf8');
  const root = secrets.encryption?.reveal() ?? stored?.trim() ?? packed?.trim();
  if (root === undefined) {
    throw new ExitError(
      ExitCode.config,
      'the backup was written without its encryption key, and none is here. Put the one that belongs to it into ' +
        `${path}, or set secrets.encryption; without it the database cannot be used.`,
    );
  }
  const previous = secrets.encryptionPrevious.map((key) => Buffer.from(key.reveal(), 'hex'));
  const ring = new KeyRing(Buffer.from(root, 'hex'), previous);
  const unknown = unknownKeyChecks(
    checks.map((check) => Buffer.from(check, 'hex')),
    ring,
  );
  if (unknown.length === 0) return;
  const where = secrets.encryption !== undefined ? 'secrets.encryption' : stored !== undefined ? path : 'its own key';
  throw new ExitError(
    ExitCode.config,
    unknown.length === checks.length
      ? `the backup belongs to another encryption key than ${where}. Restore into a data directory without one, or with the right one.`
      : 'a former encryption key that sealed a part of the backup is missing; add it to secrets.encryption_previous',
  );
}

/** Puts them where there are none yet. @returns the names of those that were written */
export async function placeSecrets(contained: readonly TarFile[], { dataDir, secrets }: Config): Promise<string[]> {
  const placed: string[] = [];
  const place = async (path: string, content: Buffer, name: string): Promise<void> => {
    if (await writeOnce(path, content)) placed.push(name);
  };
  for (const { name, content } of contained) {
    if (name === ENCRYPTION_KEY_NAME) {
      if (secrets.encryption === undefined) await place(join(dataDir, 'encryption.key'), content, 'encryption.key');
    } else if (secrets.keys.length === 0) {
      const directory = join(dataDir, 'keys');
      await makePrivateDirectory(directory);
      await place(join(directory, basename(name)), content, `keys/${basename(name)}`);
    }
  }
  return placed;
}
