/**
 * Reads a backup. Only the files that its manifest lists are accepted, in that order, with those sizes and checksums. A
 * damaged or malicious archive fails with an error before any of it is used.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import { readTarFiles, type TarFile, TarProblem } from '#platform/tar/tar-archive.ts';
import { listedFiles, MANIFEST_NAME, MAX_MANIFEST_BYTES, type Manifest, parseManifest } from './manifest.ts';

/** @throws ExitError 65 */
function damaged(path: string, problem: string, cause?: unknown): ExitError {
  return new ExitError(ExitCode.dataError, `${path} is not a usable backup: ${problem}`, { cause });
}

/**
 * Reads the whole backup and verifies every checksum.
 * @throws ExitError 1 if the file does not exist, 65 if it is damaged, 77
 */
export async function verifyBackup(path: string): Promise<Manifest> {
  let manifest: Manifest | undefined;
  for await (const _ of readBackup(path, (read) => {
    manifest = read;
  })) {
    // Reading verifies the checksums.
  }
  if (manifest === undefined) throw damaged(path, 'it is empty');
  return manifest;
}

/** Returns the manifest alone, or undefined if it cannot be read. Files after it are not verified. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  let manifest: Manifest | undefined;
  const files = readBackup(path, (read) => {
    manifest = read;
  });
  try {
    await files.next();
  } catch {
    return undefined;
  } finally {
    await files.return(undefined);
  }
  return manifest;
}

/** Returns the secrets, which are the first files. Throws like `verifyBackup`. */
export async function readSecrets(path: string): Promise<readonly TarFile[]> {
  const secrets: TarFile[] = [];
  let count = 0;
  const files = readBackup(path, (manifest) => {
    count = manifest.secrets.length;
  });
  for await (const file of files) {
    if (secrets.length === count) break;
    secrets.push(file);
  }
  return secrets;
}

/**
 * Yields the files after the manifest, each verified. Throws if any are missing.
 * @throws ExitError like `verifyBackup`
 */
export async function* readBackup(path: string, onManifest: (manifest: Manifest) => void): AsyncGenerator<TarFile> {
  try {
    if (!(await stat(path)).isFile()) throw damaged(path, 'it is not a file');
    yield* readFiles(path, onManifest);
  } catch (error) {
    if (error instanceof ExitError) throw error;
    if (error instanceof TarProblem) throw damaged(path, error.message, error);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && code.startsWith('Z_')) {
      const isCut = code === 'Z_BUF_ERROR';
      throw damaged(path, isCut ? 'it is truncated' : 'its compressed data is corrupted', error);
    }
    if (code === 'EACCES') throw new ExitError(ExitCode.noPermission, `cannot read ${path}: permission denied`);
    if (typeof code === 'string') {
      throw new ExitError(ExitCode.failure, `cannot read ${path}: ${systemReason(error)}`, { cause: error });
    }
    throw error;
  }
}

async function* readFiles(path: string, onManifest: (manifest: Manifest) => void): AsyncGenerator<TarFile> {
  const file = createReadStream(path);
  const unpacked = createGunzip();
  file.once('error', (error) => unpacked.destroy(error));
  try {
    const expected: Expected = { manifest: undefined, next: 0 };
    for await (const entry of readTarFiles(file.pipe(unpacked), (name) => limitOf(expected, name))) {
      if (expected.manifest === undefined) {
        const parsed = parseManifest(entry.content);
        if (!parsed.ok) throw damaged(path, parsed.problem);
        const { manifest } = parsed;
        onManifest(manifest);
        expected.manifest = { files: listedFiles(manifest) };
        continue;
      }
      const listed = expected.manifest.files[expected.next];
      expected.next += 1;
      const digest = createHash('sha256').update(entry.content).digest('hex');
      if (listed?.bytes !== entry.content.length || listed.sha256 !== digest) {
        throw damaged(path, `the checksum of ${entry.name} does not match the manifest`);
      }
      yield entry;
    }
    const missing = expected.manifest?.files[expected.next];
    if (missing !== undefined) throw damaged(path, `${missing.name} is missing`);
  } finally {
    file.destroy();
    unpacked.destroy();
  }
}

interface Expected {
  manifest: { readonly files: ReturnType<typeof listedFiles> } | undefined;
  /** Index of the next expected file. */
  next: number;
}

function limitOf({ manifest, next }: Expected, name: string): number | undefined {
  if (manifest === undefined) return name === MANIFEST_NAME ? MAX_MANIFEST_BYTES : undefined;
  const listed = manifest.files[next];
  return listed?.name === name ? listed.bytes : undefined;
}
