/**
 * The secrets of a data directory in a backup, and the check that a backup and the secrets of a place belong together.
 */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config } from '#config/config.ts';
import { isKeyFileName } from '#config/sections/key-file-names.ts';
import { unknownKeyChecks } from '#domain/server-state/server-state.ts';
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
 * The root keys, wherever they come from, and the signing keys in the data directory. Keys that a configuration names are
 * backed up with it.
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

/** Those that this place opens stored values with; undefined when it has none yet. */
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
 * Compares the root keys of this place, or else those in the backup, with those that sealed what is in it.
 * @throws ExitError 78 when one is missing
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
      'the backup was written without its encryption key, and none is here. Put the one that belongs to it into ' +
        `${path}, or set secrets.encryption; without it the database cannot be used.`,
    );
  }
  const bytes = (key: string): Buffer => Buffer.from(key, 'hex');
  // What lies next to the same key in the backup is put into the data directory.
  const joined = secrets.encryption === undefined && packed?.current === roots.current ? openingKeys(packed) : [];
  const ring = new KeyRing(bytes(roots.current), [...openingKeys(roots), ...joined].map(bytes));
  const unknown = unknownKeyChecks(checks.map(bytes), ring);
  if (unknown.length === 0) return;
  const where = secrets.encryption !== undefined ? 'secrets.encryption' : here !== undefined ? path : 'its own key';
  throw new ExitError(
    ExitCode.config,
    unknown.length === checks.length
      ? `the backup belongs to another encryption key than ${where}. Restore into a data directory without one, or with the right one.`
      : 'a former encryption key that sealed a part of the backup is missing; add it to secrets.encryption_previous',
  );
}

/** Puts them where there are none yet, with mode 0600. @returns the names of those that were written */
export async function placeSecrets(contained: readonly TarFile[], { dataDir, secrets }: Config): Promise<string[]> {
  const placed: string[] = [];
  const stored = readRootKeys(dataDir)?.current;
  // Keys of before, and of a replacement that was begun, belong to the one that they lie next to.
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
