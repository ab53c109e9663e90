// @ts-check
/** Small disks that tests and tools can fill up. Mounting them requires root. */
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
   * Creates a folder and mounts a disk on it.
   * @param {string} path
   * @param {number} megabytes
   */
  constructor(path, megabytes) {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
    this.path = path;
    this.#ballast = join(path, 'ballast');
  }

  /** Fills the disk to the last byte. Can be repeated after files are removed. */
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
