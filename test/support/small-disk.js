// @ts-check
/** Disks that can be filled up, for tests and tools. Only root can mount them. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(64 * 1024);

export class SmallDisk {
  /** Milliseconds since the epoch. */
  freedAt = 0;
  /** @type {string} */
  #ballast;

  /**
   * Mounts one over a folder, which is made.
   * @param {string} path
   * @param {number} megabytes
   */
  constructor(path, megabytes) {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
    this.path = path;
    this.#ballast = join(path, 'ballast');
  }

  /** To the last byte; again where something was removed since. */
  fill() {
    const file = openSync(this.#ballast, 'a');
    try {
      for (let size = BLOCK.length; size > 0; ) {
        try {
          writeSync(file, BLOCK, 0, size);
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free() {
    rmSync(this.#ballast);
    this.freedAt = Date.now();
  }

  unmount() {
    execFileSync('umount', ['--lazy', this.path]);
  }
}
