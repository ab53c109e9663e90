/**
 * Every installed dependency must have one of the licenses below; of an SPDX expression, one alternative must match.
 * Development tools may also have a CC-BY license.
 */
import { readFileSync } from 'node:fs';

const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Apache-2.0',
  'PostgreSQL',
  'CC0-1.0',
  'Python-2.0',
  'MPL-2.0',
]);

/** Returns true if one alternative of an SPDX expression without nested `WITH` is allowed. */
function isAllowed(expression, isDevelopment) {
  return expression
    .replaceAll(/[()]/g, ' ')
    .split(/\s+OR\s+/)
    .some((choice) =>
      choice
        .split(/\s+AND\s+/)
        .map((name) => name.trim())
        .every((name) => ALLOWED.has(name) || (isDevelopment && name.startsWith('CC-BY-'))),
    );
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const problems = [];
let counted = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue;
  counted += 1;
  let { license } = entry;
  if (license === undefined) {
    try {
      license = JSON.parse(readFileSync(`${path}/package.json`, 'utf8')).license;
    } catch {
      // an optional package of another platform: its license is in the lockfile, if it has one
    }
  }
  if (typeof license !== 'string' || !isAllowed(license, entry.dev === true || entry.devOptional === true)) {
    problems.push(`${path.replace('node_modules/', '')}: ${license ?? 'no licence named'}`);
  }
}
if (counted === 0) problems.push('no dependency was read');
for (const problem of problems) process.stderr.write(`licence not allowed: ${problem}\n`);
process.stdout.write(`${counted} dependencies read, ${problems.length} not allowed\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
