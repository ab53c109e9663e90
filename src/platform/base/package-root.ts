import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of `package.json`, which contains `migrations/`, `locales/` and the built files. Independent of the
 * working directory and of whether the code runs from `src/` (tests) or bundled in `dist/`.
 */
export const packageRoot = findPackageRoot(import.meta.dirname);

/** Returns the version of this program from its `package.json`. */
export function readPackageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  throw new Error(`${packageRoot}/package.json has no version`);
}

function findPackageRoot(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error('package.json not found above the program');
  return findPackageRoot(parent);
}
