/** Secrets of a data directory in a backup, and the check that a backup and the configured secrets belong together. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config } from '#config/config.ts';
import { isKeyFileName } from '#config/sections/key-file-names.ts';
import { unknownKeyChecks } from '#domain/keys/server-state.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { TarFile } from '#platform/tar/tar-archive.ts';
import { writeOnce } from '../data-directory/durable-files.ts';
import { makePrivateDirectory } from '../data-directory/generated-secrets.ts';
import { openingKeys, type RootKeys, readRootKeys, rootKeyPaths } from '../data-directory/root-key-files.ts';
import {
  ENCRYPTION_KEY_NAME,
  type Manifest,
  NEXT_ENCRYPTION_KEY_NAME,
  PREVIOUS_ENCRYPTION_KEYS_NAME,
} from './manifest.ts';

const KEYS_FOLDER = 'secrets/keys/';

/**
 * Returns the root keys from any source, and the signing keys of the data directory. Keys in the configuration are
 * backed up with the configuration.
 */
export async function secretsToBackUp(config: Config): Promise<readonly TarFile[]> {
  const roots = rootKeysHere(config);
  const files = roots === undefined ? [] : packedRootKeys(roots);
  const directory = join(config.dataDir, 'keys');
  const names = (await readdir(directory).catch(() => [])).filter(isKeyFileName).sort();
  for (const name of names) {
    const path = join(directory, name);
    if ((await lstat(path)).isFile()) files.push({ name: `${KEYS_FOLDER}${name}`, content: await readFile(path) });
  }
  return files;
}

/** Returns the root keys of this installation; undefined if it has none yet. */
function rootKeysHere({ dataDir, secrets }: Config): RootKeys | undefined {
  const generated = readRootKeys(dataDir);
  const current = secrets.encryption?.reveal() ?? generated?.current;
  if (current === undefined) return undefined;
  const configured = secrets.encryptionPrevious.map((key) => key.reveal());
  if (secrets.encryption !== undefined) return { current, next: undefined, previous: configured };
  return { current, next: generated?.next, previous: [...(generated?.previous ?? []), ...configured] };
}

function packedRootKeys({ current, next, previous }: RootKeys): TarFile[] {
  const file = (name: string, keys: readonly string[]): TarFile => {
    return { name, content: Buffer.from(keys.map((key) => `${key}\n`).join('')) };
  };
  return [
    file(ENCRYPTION_KEY_NAME, [current]),
    ...(next === undefined ? [] : [file(NEXT_ENCRYPTION_KEY_NAME, [next])]),
    ...(previous.length === 0 ? [] : [file(PREVIOUS_ENCRYPTION_KEYS_NAME, previous)]),
  ];
}

function rootKeysIn(contained: readonly TarFile[]): RootKeys | undefined {
  const keys = (name: string): string[] =>
    contained
      .find((file) => file.name === name)
      ?.content.toString('utf8')
      .trim()
      .split('\n') ?? [];
  const [current] = keys(ENCRYPTION_KEY_NAME);
  if (current === undefined) return undefined;
  const [next] = keys(NEXT_ENCRYPTION_KEY_NAME);
  return { current, next, previous: keys(PREVIOUS_ENCRYPTION_KEYS_NAME) };
}

/**
 * Checks that the root keys of this installation, or else those in the backup, can decrypt the backup's data.
 * @throws ExitError 78 if one is missing
 */
export async function requireRightKeys(
  { encryption_key_checks: checks }: Manifest,
  config: Config,
  contained: readonly TarFile[],
): Promise<void> {
  if (checks.length === 0) return;
  const { dataDir, secrets } = config;
  const path = rootKeyPaths(dataDir).current;
  const here = rootKeysHere(config);
  const packed = rootKeysIn(contained);
  const roots = here ?? packed;
  if (roots === undefined) {
    throw new ExitError(
      ExitCode.config,
      'the backup does not contain its encryption key, and none is configured. Copy its key to ' +
        `${path}, or set secrets.encryption. Without it, the database is unusable.`,
    );
  }
  const bytes = (key: string): Buffer => Buffer.from(key, 'hex');
  // If the backup has the same current key, its other keys are restored into the data directory.
  const joined = secrets.encryption === undefined && packed?.current === roots.current ? openingKeys(packed) : [];
  const ring = new KeyRing(bytes(roots.current), [...openingKeys(roots), ...joined].map(bytes));
  const unknown = unknownKeyChecks(checks.map(bytes), ring);
  if (unknown.length === 0) return;
  const where = secrets.encryption !== undefined ? 'secrets.encryption' : here !== undefined ? path : 'its own key';
  throw new ExitError(
    ExitCode.config,
    unknown.length === checks.length
      ? `the backup belongs to an encryption key other than ${where}. Restore it into a data directory without a key, or with the matching one.`
      : 'a former encryption key that encrypted part of the backup is missing; add it to secrets.encryption_previous',
  );
}

/**
 * Writes the secrets that do not exist yet, with mode 0600.
 * @returns the names of the files written
 */
export async function placeSecrets(contained: readonly TarFile[], { dataDir, secrets }: Config): Promise<string[]> {
  const placed: string[] = [];
  const stored = readRootKeys(dataDir)?.current;
  // Previous and next keys belong to the current key next to them.
  const wantsRoots = secrets.encryption === undefined && [undefined, rootKeysIn(contained)?.current].includes(stored);
  const place = async (path: string, content: Buffer, name: string): Promise<void> => {
    if (await writeOnce(path, content)) placed.push(name);
  };
  for (const { name, content } of contained) {
    if (!name.startsWith(KEYS_FOLDER)) {
      if (wantsRoots) await place(join(dataDir, basename(name)), content, basename(name));
    } else if (secrets.keys.length === 0) {
      const directory = join(dataDir, 'keys');
      await makePrivateDirectory(directory);
      await place(join(directory, basename(name)), content, `keys/${basename(name)}`);
    }
  }
  return placed;
}
