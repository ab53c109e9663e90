/**
 * Replaces signing keys in a directory, one step at a time (operations 3.12). The name of a file says how far it is:
 *
 *     NAME.next.pem   published, signs nothing yet       begin
 *     NAME.pem        signs                              promote: NAME.next.pem -> NAME.new.pem, NAME.pem -> NAME.old.pem,
 *     NAME.old.pem    published, signs nothing more               NAME.new.pem -> NAME.pem
 *     retired/        no longer read                     retire
 *
 * Instances read the directory at any moment, so that each rename leaves a set in which every algorithm has a key that
 * signs and no key stands twice. A promotion that was cut off is taken up where it stopped.
 */
import { access, mkdir, rename, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseKeyFileName } from '#config/sections/key-file-names.ts';
import type { ListedKey } from '#domain/signing-keys/signing-keys.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { syncDirectory } from '#platform/base/files.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';
import { generatePrivateKey, type KeyType } from '#protocol/jose/key-types.ts';
import type { SigningAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import { writeOnce } from './durable-files.ts';

/** What a promotion gives the key for a moment, so that it signs next to the one that it replaces. */
const PROMOTED = '.new';

export interface KeyRotation {
  /** Those of the directory, in the order of their names. */
  readonly keys: readonly ListedKey[];
  readonly directory: string;
  readonly algorithm: SigningAlgorithm;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A key of one stage and since when it has been in it, in milliseconds since the epoch. */
export interface StagedKey {
  readonly path: string;
  readonly since: number;
}

/** The next key, made by an earlier step. */
export async function findNextKey(rotation: KeyRotation): Promise<StagedKey | undefined> {
  return await findStaged(rotation, 'next');
}

/** The key that was replaced last and is still published. */
export async function findOldKey(rotation: KeyRotation): Promise<StagedKey | undefined> {
  return await findStaged(rotation, 'old');
}

async function findStaged({ keys, algorithm }: KeyRotation, stage: 'next' | 'old'): Promise<StagedKey | undefined> {
  const path = pathsOf(keys, algorithm).find((each) => parseKeyFileName(basename(each)).stage === stage);
  return path === undefined ? undefined : { path, since: (await attempt(path, stat(path))).mtimeMs };
}

/** Whether a promotion was cut off. */
export function isPromotionOpen({ keys, algorithm }: KeyRotation): boolean {
  return pathsOf(keys, algorithm).some(isBeingPromoted);
}

/** Makes the next key. @returns its path */
export async function beginRotation({ directory }: KeyRotation, stem: string, type: KeyType): Promise<string> {
  const path = join(directory, `${stem}.next.pem`);
  if (!(await attempt(path, writeOnce(path, await generatePrivateKey(type))))) throw inTheWay(path);
  return path;
}

/** Makes the next key the one that signs; other keys of the algorithm stay published. @returns its path */
export async function promoteNextKey({ keys, algorithm, directory, now }: KeyRotation): Promise<string> {
  const paths = pathsOf(keys, algorithm);
  const next = paths.find((path) => parseKeyFileName(basename(path)).stage === 'next');
  const begun = paths.find(isBeingPromoted);
  if (next === undefined && begun === undefined) throw new Error('there is no next key');
  const { stem, extension } = parseKeyFileName(basename(begun ?? next ?? ''));
  const plainStem = stem.endsWith(PROMOTED) ? stem.slice(0, -PROMOTED.length) : stem;
  const promoted = join(directory, `${plainStem}${PROMOTED}${extension}`);
  const replaced = paths.filter((path) => parseKeyFileName(basename(path)).stage === 'active' && path !== begun);
  const moves = replaced.map((path) => ({ path, to: oldPath(path) }));
  for (const { to } of moves) await requireFree(to);
  if (begun === undefined && next !== undefined) await move(next, promoted);
  for (const { path, to } of moves) {
    // From now on its age is the time since it signed last.
    await attempt(path, utimes(path, now / 1000, now / 1000));
    await move(path, to);
  }
  const path = join(directory, `${plainStem}${extension}`);
  await move(promoted, path);
  return path;
}

/** Takes the replaced key out of the published set. @returns where it is kept */
export async function retireOldKey({ directory, now }: KeyRotation, { path }: StagedKey): Promise<string> {
  const retired = join(directory, 'retired');
  await attempt(retired, mkdir(retired, { recursive: true, mode: 0o700 }));
  const { stem, extension } = parseKeyFileName(basename(path));
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const to = join(retired, `${stem}-${time}${extension}`);
  await move(path, to);
  await attempt(retired, syncDirectory(retired));
  return to;
}

/** Key files of one algorithm. */
function pathsOf(keys: readonly ListedKey[], algorithm: SigningAlgorithm): readonly string[] {
  return keys.filter((key) => key.algorithm === algorithm).map(({ name }) => name);
}

function isBeingPromoted(path: string): boolean {
  const { stem, stage } = parseKeyFileName(basename(path));
  return stage === 'active' && stem.endsWith(PROMOTED);
}

function oldPath(path: string): string {
  const { stem, extension } = parseKeyFileName(basename(path));
  return join(dirname(path), `${stem}.old${extension}`);
}

/** Renames without replacing anything. */
async function move(from: string, to: string): Promise<void> {
  await requireFree(to);
  await attempt(from, rename(from, to));
  await attempt(to, syncDirectory(dirname(to)));
}

async function requireFree(path: string): Promise<void> {
  const isTaken = await access(path).then(
    () => true,
    () => false,
  );
  if (isTaken) throw inTheWay(path);
}

function inTheWay(path: string): ExitError {
  return new ExitError(ExitCode.failure, `${path} is there already; move it away or retire it first`);
}

/** A file that is gone was renamed by another command at the same moment. */
async function attempt<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExitError) throw error;
    if (isErrno(error, 'ENOENT'))
      throw new ExitError(ExitCode.tempFail, `${path} is gone: does another command rotate keys?`);
    const isRefused = isErrno(error, 'EACCES', 'EPERM', 'EROFS');
    throw new ExitError(
      isRefused ? ExitCode.noPermission : ExitCode.failure,
      `cannot change ${path}: ${systemReason(error)}`,
      { cause: error },
    );
  }
}
