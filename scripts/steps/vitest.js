import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './places.js';

/** Runs vitest in this process. Its package may have been installed just now. */
export async function runVitest(...args) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  process.argv = [process.execPath, vitest, ...args];
  await import(pathToFileURL(vitest).href);
}
