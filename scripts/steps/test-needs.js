import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './places.js';

/** Files that start databases or run the built program. */
const STARTERS = new Set([
  'src/platform/embedded-postgres/embedded-server.ts',
  'test/start/program.ts',
  'test/support/database.ts',
  'test/support/postgres-server.ts',
  'test/support/program.js',
  'test/support/start-postgres.js',
]);
const TEST = /\.test\.tsx?$/;
/** Files that tests import and the product does not. */
const OF_TESTS = /^test\/|\.test-support\.tsx?$/;
const IMPORT = /(?:\bfrom|\bimport)[\s(]*['"]([^'"]+)['"]/g;

/** Returns all test files, and those that need a database because one of their imports starts it. */
export function readTestFiles() {
  const all = ['src', 'test', 'web'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => TEST.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
  const known = new Map();
  return { all, withDatabase: all.filter((file) => needsDatabase(file, known)) };
}

function needsDatabase(file, known) {
  if (STARTERS.has(file)) return true;
  const before = known.get(file);
  if (before !== undefined) return before;
  // Ends cycles.
  known.set(file, false);
  const path = join(root, file);
  const needs =
    existsSync(path) && importsOf(file, readFileSync(path, 'utf8')).some((imported) => needsDatabase(imported, known));
  known.set(file, needs);
  return needs;
}

/** Returns the imported files that may start a database. */
function importsOf(file, text) {
  const imported = [...text.matchAll(IMPORT)].map(([, name]) => resolve(file, name));
  return imported.filter((name) => OF_TESTS.test(name) || STARTERS.has(name));
}

function resolve(file, name) {
  if (name.startsWith('#test/')) return name.slice(1);
  if (name.startsWith('#')) return `src/${name.slice(1)}`;
  return name.startsWith('.') ? join(dirname(file), name) : name;
}
