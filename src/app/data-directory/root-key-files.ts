/**
 * The generated root key and its rotation, one file for each step (operations 3.12):
 *
 *     encryption.next.key    decrypts only                   publishNextRootKey
 *     encryption.key         encrypts                        promoteNextRootKey: its content is added to the file below,
 *     encryption.previous    decrypts; one key per line      then encryption.next.key takes its name
 *
 * Processes read the files at any time. After each step they contain every key that stored values may be encrypted
 * with. An interrupted step is repeated.
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
  /** Encrypts after `promoteNextRootKey`. */
  readonly next: string | undefined;
  /** Former encryption keys. */
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
 * Reads the keys from their files; undefined if none has been generated.
 * @throws ExitError 78 if a file holds something else
 */
export function readRootKeys(dataDir: string): RootKeys | undefined {
  const paths = rootKeyPaths(dataDir);
  // Read the next key first: if it is promoted in between, it is found as the current key.
  const [next] = keysIn(paths.next);
  const [current] = keysIn(paths.current);
  if (current === undefined) return undefined;
  return { current, next: next === current ? undefined : next, previous: keysIn(paths.previous) };
}

/** Returns the keys that only decrypt. */
export function openingKeys({ current, next, previous }: RootKeys): readonly string[] {
  const others = [...(next === undefined ? [] : [next]), ...previous];
  return [...new Set(others)].filter((key) => key !== current);
}

/** Returns the secrets with the current root keys of the files, which may be rotated while the service runs. */
export function withRootKeys(dataDir: string, generated: GeneratedSecrets): GeneratedSecrets {
  const keys = generated.encryptionKey === undefined ? undefined : readRootKeys(dataDir);
  if (keys === undefined) return generated;
  return { ...generated, encryptionKey: keys.current, encryptionPrevious: openingKeys(keys) };
}

/** Generates the next key unless it exists. */
export async function publishNextRootKey(dataDir: string): Promise<void> {
  await writeOnce(rootKeyPaths(dataDir).next, `${randomBytes(32).toString('hex')}\n`);
}

/** Promotes the next key to the encrypting key, and keeps the former one for decryption. */
export async function promoteNextRootKey(dataDir: string, { current, previous }: RootKeys): Promise<void> {
  const paths = rootKeyPaths(dataDir);
  const kept = [...new Set([current, ...previous])];
  await replaceFile(paths.previous, kept.map((key) => `${key}\n`).join(''));
  await rename(paths.next, paths.current);
  await syncDirectory(dirname(paths.current));
}

/**
 * Returns when the encrypting key was last replaced, in milliseconds since the epoch; undefined if never, or if the
 * former key was removed.
 */
export function rootKeyReplacedAt(dataDir: string): number | undefined {
  return statSync(rootKeyPaths(dataDir).previous, { throwIfNoEntry: false })?.mtimeMs;
}

function keysIn(path: string): readonly string[] {
  const lines = textOf(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.every((line) => ROOT_KEY.test(line))) return lines;
  throw new ExitError(ExitCode.config, `${path} must contain only keys of 64 hexadecimal characters`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return '';
    throw error;
  }
}
