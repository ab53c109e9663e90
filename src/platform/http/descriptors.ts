import { readdirSync, readFileSync } from 'node:fs';

/** File descriptors for what else a process opens between two measurements: the database, files, look-ups of names. */
const HEADROOM = 32;
/** Far from the limit nothing is counted. */
const FAR = 1024;
const MIN_CONNECTIONS = 8;

/** What the operating system lets this process keep open. */
export interface DescriptorLimit {
  /** Open files of any kind. */
  readonly openFiles: number;
  /** Connections that fit next to everything else that is open. */
  readonly connections: number;
}

const UNLIMITED: DescriptorLimit = {
  openFiles: Number.POSITIVE_INFINITY,
  connections: Number.POSITIVE_INFINITY,
};

/**
 * Measured, since the limit can be changed while the process runs, and since nothing tells when it is reached: Node.js
 * then takes connections and closes them without a word (security S-187). No limit where there is no `/proc`.
 * @param connections open ones
 */
export function measureDescriptors(connections: number): DescriptorLimit {
  try {
    const [, text = ''] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    if (text === '' || text === 'unlimited') return UNLIMITED;
    const openFiles = Number(text);
    if (openFiles - connections > FAR) return { openFiles, connections: openFiles - FAR / 2 };
    const others = readdirSync('/proc/self/fd').length - connections;
    return { openFiles, connections: Math.max(MIN_CONNECTIONS, openFiles - others - HEADROOM) };
  } catch {
    return UNLIMITED;
  }
}
