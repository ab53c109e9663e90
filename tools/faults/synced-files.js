/**
 * Simulates the files that remain after a power loss: only flushed data. A preloaded library keeps a copy of each file
 * as of its last flush (`synced-files.c`), and the copies replace the files.
 */
import { randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildLibrary } from './preloaded.js';

const SOURCE = fileURLToPath(new URL('synced-files.c', import.meta.url));
/** A disk writes a sector completely or not at all. */
const SECTOR_BYTES = 512;

/**
 * Compiles the library.
 * @returns its path
 */
export function buildSyncedFiles(folder) {
  return buildLibrary(SOURCE, folder);
}

export class SyncedFiles {
  #library;
  #of;
  #folder;

  /**
   * @param library from `buildSyncedFiles`
   * @param of the watched folder, which need not exist yet
   * @param folder of the copies, on the same file system
   */
  constructor({ library, of, folder }) {
    this.#library = library;
    this.#of = of;
    this.#folder = folder;
    this.#makeFolders();
  }

  /** Environment variables for the processes that use the files. */
  get environment() {
    return { LD_PRELOAD: this.#library, SYNCED_OF: this.#of, SYNCED_TO: this.#folder };
  }

  /**
   * Returns scripts that start the watched programs of PostgreSQL.
   * @param folder for the scripts
   */
  watched({ initdb, postgres }, folder) {
    fs.mkdirSync(folder, { recursive: true });
    const variables = Object.entries(this.environment).map(([name, value]) => `export ${name}='${value}'\n`);
    const watched = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
    // Small segments, because every WAL flush is compared with the previous one.
    const started = { initdb: `'${initdb}' "$@" --wal-segsize=1`, postgres: `'${postgres}' "$@"` };
    for (const [name, program] of Object.entries(started)) {
      fs.writeFileSync(watched[name], `#!/bin/sh\n${variables.join('')}exec ${program}\n`);
      fs.chmodSync(watched[name], 0o755);
    }
    return watched;
  }

  /** Waits until the processes have exited, which takes some time after a signal. */
  async untilUnused() {
    const isUsed = (pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/maps`, 'utf8').includes(this.#library);
      } catch {
        // It has ended.
        return false;
      }
    };
    const pids = () => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    while (pids().some(isUsed)) await pause(10);
  }

  /**
   * Restores the flushed data. No process may be using the files.
   * @param keepsSome whether, as on a real disk, some random sectors of the rest were written anyway
   * @returns `{ files, lost, kept }`: number of files, and bytes that had not been flushed
   */
  cut({ keepsSome }) {
    const tree = join(this.#folder, 'tree');
    const live = keyedFiles(this.#of);
    const named = filesBelow(tree);
    const keys = new Map(
      fs.readdirSync(join(this.#folder, 'files')).map((key) => [inodeOf(join(this.#folder, 'files', key)), key]),
    );
    const total = { files: named.length, lost: 0, kept: 0 };
    const seen = new Set();
    for (const path of named) {
      const key = keys.get(inodeOf(path));
      // A former name whose removal was not flushed: it becomes a separate file.
      if (seen.has(key)) separate(path);
      seen.add(key);
      const original = live.get(key);
      if (original === undefined) continue;
      const { lost, kept } = mix(path, original, keepsSome);
      total.lost += lost;
      total.kept += kept;
    }
    takeOverOwners(this.#of, tree);
    fs.rmSync(this.#of, { recursive: true, force: true });
    fs.renameSync(tree, this.#of);
    fs.rmSync(this.#folder, { recursive: true });
    this.#makeFolders();
    this.#copyAll();
    return total;
  }

  #makeFolders() {
    for (const name of ['', 'files', 'tree']) {
      const path = join(this.#folder, name);
      fs.mkdirSync(path, { recursive: true });
      // Processes of several accounts write to it.
      fs.chmodSync(path, 0o777);
    }
  }

  /** The current files are the initial copies. */
  #copyAll() {
    for (const path of foldersBelow(this.#of)) {
      const copy = join(this.#folder, 'tree', path.slice(this.#of.length));
      fs.mkdirSync(copy, { recursive: true });
      fs.chmodSync(copy, 0o777);
    }
    for (const [key, path] of keyedFiles(this.#of)) {
      const copy = join(this.#folder, 'files', key);
      fs.copyFileSync(path, copy);
      fs.chmodSync(copy, 0o666);
      fs.linkSync(copy, join(this.#folder, 'tree', path.slice(this.#of.length)));
    }
  }
}

function separate(path) {
  const content = fs.readFileSync(path);
  fs.rmSync(path);
  fs.writeFileSync(path, content);
}

/** Each differing sector is counted as lost, or is kept. */
function mix(path, original, keepsSome) {
  const [flushed, written] = [path, original].map((file) => fs.readFileSync(file));
  const length = Math.max(flushed.length, written.length);
  const mixed = Buffer.alloc(length);
  flushed.copy(mixed);
  const counts = { lost: 0, kept: 0 };
  if (flushed.equals(written)) return counts;
  let end = flushed.length;
  for (let at = 0; at < length; at += SECTOR_BYTES) {
    const sector = written.subarray(at, at + SECTOR_BYTES);
    if (sector.equals(flushed.subarray(at, at + SECTOR_BYTES))) continue;
    const isKept = keepsSome && sector.length > 0 && randomInt(2) === 1;
    counts[isKept ? 'kept' : 'lost'] += sector.length;
    if (!isKept) continue;
    sector.copy(mixed, at);
    end = Math.max(end, at + sector.length);
  }
  if (counts.kept > 0) fs.writeFileSync(path, mixed.subarray(0, end));
  return counts;
}

/** The copies belong to the account that made them, so owners and modes are copied from the files. */
function takeOverOwners(of, tree) {
  for (const path of [...foldersBelow(tree), ...filesBelow(tree)]) {
    const original = join(of, path.slice(tree.length));
    const isFolder = fs.statSync(path).isDirectory();
    const known = fs.existsSync(original) ? fs.statSync(original) : undefined;
    const { uid, gid } = known ?? fs.statSync(dirname(path));
    fs.chownSync(path, uid, gid);
    fs.chmodSync(path, known === undefined ? (isFolder ? 0o700 : 0o600) : known.mode & 0o777);
  }
}

/** Returns files by the key that the library uses. */
function keyedFiles(folder) {
  return new Map(
    filesBelow(folder).map((path) => {
      const { ino, birthtimeNs } = fs.statSync(path, { bigint: true });
      return [`${ino}-${birthtimeNs}`, path];
    }),
  );
}

function inodeOf(path) {
  return fs.statSync(path, { bigint: true }).ino;
}

function filesBelow(folder) {
  return entriesBelow(folder, (entry) => entry.isFile());
}

/** Includes the folder itself, parents first. */
function foldersBelow(folder) {
  return [folder, ...entriesBelow(folder, (entry) => entry.isDirectory()).sort()];
}

function entriesBelow(folder, isWanted) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(isWanted)
    .map((entry) => join(entry.parentPath, entry.name));
}
