import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Size budget of a page, in bytes after gzip (account-graphql 8.8). */
const MAX_SCRIPT_BYTES = 120_000;
const MAX_STYLE_BYTES = 25_000;
const MAX_CATALOGUE_BYTES = 15_000;
/** Chunks loaded on demand, not for the first view of a page. */
const MAX_LAZY_BYTES = 400_000;
/** The page itself, its style, its texts and two API requests are the other five of eight requests. */
const MAX_SCRIPTS = 3;

/** Throws if a page of the account area exceeds its budget. */
export function checkWeights(folder, manifest, outputs) {
  const weigh = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
  const problems = [];
  const limit = (what, bytes, max) => {
    if (bytes > max) problems.push(`${what}: ${bytes} bytes, of ${max} that it may have`);
  };
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const entry = manifest['account.js'];
  for (const [name, { entryPoint }] of byName) {
    if (entryPoint === undefined || !name.endsWith('.js')) continue;
    const scripts = new Set([...withImports(entry, byName), ...withImports(name, byName)]);
    const total = [...scripts].reduce((sum, script) => sum + weigh(script), 0);
    if (!entryPoint.startsWith('web/pages/') && name !== entry) limit(entryPoint, total, MAX_LAZY_BYTES);
    else limit(`scripts for ${entryPoint}`, total, MAX_SCRIPT_BYTES);
    if (entryPoint.startsWith('web/pages/profile/') && scripts.size > MAX_SCRIPTS) {
      problems.push(`scripts for ${entryPoint}: ${scripts.size} files, of ${MAX_SCRIPTS} that it may have`);
    }
  }
  limit('account.css', weigh(manifest['account.css']), MAX_STYLE_BYTES);
  for (const [plain, name] of Object.entries(manifest)) {
    if (plain.startsWith('account-') && plain.endsWith('.json')) limit(plain, weigh(name), MAX_CATALOGUE_BYTES);
  }
  if (problems.length > 0) throw new Error(`the account area is too heavy: ${problems.join('; ')}`);
}

/** Returns a script and its static imports. */
function withImports(name, byName, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const { path, kind } of byName.get(name)?.imports ?? []) {
    if (kind === 'import-statement') withImports(basename(path), byName, found);
  }
  return found;
}
