/**
 * The generated root key and its replacement, one file for each step (operations 3.12):
 *
 *     encryption.next.key    opens, seals nothing yet        publishNextRootKey
 *     encryption.key         seals                           promoteNextRootKey: its content is added to the file below,
 *     encryption.previous    opens; one key a line           then encryption.next.key takes its name
 *
 * Processes read them at any moment: after each step the files name every key that stored values may be sealed under. A
 * step that was cut off is taken again.
 */
import { readFileSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GeneratedSecrets } from '#config/load.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { syncDirectory } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { replaceFile, writeOnce } from './durable-files.ts';

const ROOT_KEY = /^[0-9a-f]{64}$/;

/** All as 64 hexadecimal characters. */
export interface RootKeys {
  readonly current: string;
  /** Sealed with next, by `promoteNextRootKey`. */
  readonly next: string | undefined;
  /** Sealed with before. */
  readonly previous: readonly string[];
}

export function rootKeyPaths(dataDir: string) {
  return {
    current: join(dataDir, 'encryption.key'),
    next: join(dataDir, 'encryption.next.key'),
    previous: join(dataDir, 'encryption.previous'),
  };
}

/**
 * The keys as the files have them; undefined before one was generated.
 * @throws ExitError 78 when a file holds something else
 */
export function readRootKeys(dataDir: string): RootKeys | undefined {
  const paths = rootKeyPaths(dataDir);
  // The next key first: when it takes its name in between, it is found there.
  const [next] = keysIn(paths.next);
  const [current] = keysIn(paths.current);
  if (current === undefined) return undefined;
  return { current, next: next === current ? undefined : next, previous: keysIn(paths.previous) };
}

/** The keys that open and do not seal. */
export function openingKeys({ current, next, previous }: RootKeys): readonly string[] {
  const others = [...(next === undefined ? [] : [next]), ...previous];
  return [...new Set(others)].filter((key) => key !== current);
}

/** With the root keys as their files have them now: they may be replaced while the service runs. */
export function withRootKeys(dataDir: string, generated: GeneratedSecrets): GeneratedSecrets {
  const keys = generated.encryptionKey === undefined ? undefined : readRootKeys(dataDir);
  if (keys === undefined) return generated;
  return { ...generated, encryptionKey: keys.current, encryptionPrevious: openingKeys(keys) };
}

/** Makes the next key, unless one is there. */
export async function publishNextRootKey(dataDir: string): Promise<void> {
  await writeOnce(rootKeyPaths(dataDir).next, `${randomBytes(32).toString('hex')}\n`);
}

/** Makes the next key the one that seals, and keeps the former one for what it sealed. */
export async function promoteNextRootKey(dataDir: string, { current, previous }: RootKeys): Promise<void> {
  const paths = rootKeyPaths(dataDir);
  const kept = [...new Set([current, ...previous])];
  await replaceFile(paths.previous, kept.map((key) => `${key}\n`).join(''));
  await rename(paths.next, paths.current);
  await syncDirectory(dirname(paths.current));
}

/** When the key that seals was last replaced, in milliseconds since the epoch; undefined: never, or its former key is gone. */
export function rootKeyReplacedAt(dataDir: string): number | undefined {
  return statSync(rootKeyPaths(dataDir).previous, { throwIfNoEntry: false })?.mtimeMs;
}

function keysIn(path: string): readonly string[] {
  const lines = textOf(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.every((line) => ROOT_KEY.test(line))) return lines;
  throw new ExitError(ExitCode.config, `${path} holds something else than keys of 64 hexadecimal characters`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return '';
    throw error;
  }
}
