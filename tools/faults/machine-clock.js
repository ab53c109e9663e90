/** Clocks of machines that can be set while their processes run; see `set-clock.c`. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildLibrary } from './preloaded.js';

const SOURCE = fileURLToPath(new URL('set-clock.c', import.meta.url));

/**
 * Compiles the library.
 * @returns its path
 */
export function buildSetClock(folder) {
  return buildLibrary(SOURCE, folder);
}

export class MachineClock {
  #library;
  #file;

  /**
   * @param library from `buildSetClock`
   * @param file with the offset, readable by every account
   */
  constructor(library, file) {
    this.#library = library;
    this.#file = file;
    writeFileSync(file, offsetOf(0), { mode: 0o644 });
  }

  /** Environment variables for the processes of the machine. */
  get environment() {
    return { LD_PRELOAD: this.#library, SET_CLOCK_BY: this.#file };
  }

  /** @param seconds ahead of the real time; 0 resets the clock, a negative number sets it behind */
  set(seconds) {
    // Written in place, because the processes have mapped the file.
    const descriptor = openSync(this.#file, 'r+');
    writeSync(descriptor, offsetOf(seconds), 0, 8, 0);
    closeSync(descriptor);
  }
}

function offsetOf(seconds) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds) * 1_000_000_000n);
  return bytes;
}
