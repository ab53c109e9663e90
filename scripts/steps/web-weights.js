import { readFileSync, statSync } from 'node:fs';
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

/**
 * Throws if a page of the account area exceeds its budget.
 * @param folder with the published files
 * @param manifest published name by plain name
 * @param outputs outputs of the bundler, for the account area
 */
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

/** Size budget of the admin area, in bytes after gzip (administration 7). */
const MAX_ADMIN_SCRIPT_BYTES = 61_440;
const MAX_ADMIN_PAGE_BYTES = 20_000;
/** The drawing library, which Overview loads after its figures. */
const PLOTS = 'web/admin/pages/overview/draw.ts';
const MAX_ADMIN_PLOT_BYTES = 26_000;
const MAX_ADMIN_STYLE_BYTES = 12_000;
const MAX_ADMIN_CATALOGUE_BYTES = 20_000;

/** Throws if the admin area exceeds its budget. */
export function checkAdminWeights(folder, manifest, outputs) {
  const weigh = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const first = withImports(manifest['admin.js'], byName);
  const weights = [
    ['scripts of the first view', sumOf(first, weigh), MAX_ADMIN_SCRIPT_BYTES],
    ['admin.css', weigh(manifest['admin.css']), MAX_ADMIN_STYLE_BYTES],
    ...Object.entries(manifest)
      .filter(([plain]) => plain.startsWith('admin-') && plain.endsWith('.json'))
      .map(([plain, name]) => [plain, weigh(name), MAX_ADMIN_CATALOGUE_BYTES]),
    ...[...byName]
      .filter(([name, { entryPoint }]) => name.endsWith('.js') && entryPoint?.startsWith('web/admin/pages/'))
      .map(([name, { entryPoint }]) => {
        const own = [...withImports(name, byName)].filter((script) => !first.has(script));
        return [entryPoint, sumOf(own, weigh), entryPoint === PLOTS ? MAX_ADMIN_PLOT_BYTES : MAX_ADMIN_PAGE_BYTES];
      }),
  ];
  const problems = weights.filter(([, bytes, max]) => bytes > max);
  if (problems.length === 0) return;
  const texts = problems.map(([what, bytes, max]) => `${what}: ${bytes} bytes, of ${max} that it may have`);
  throw new Error(`the admin area is too heavy: ${texts.join('; ')}`);
}

function sumOf(names, weigh) {
  return [...names].reduce((sum, name) => sum + weigh(name), 0);
}

/** Files of the sign-in pages and of the account area; their scripts are listed by what they contain. */
const SIGN_IN_FILES = ['pages.css', 'pages.js', 'add-passkey.js', 'passkey.js', 'strength.js'];

/**
 * Throws if the account area or the sign-in pages load more than `web/weights.json` allows: a new part of the product
 * must not slow down pages that do not use it. Counts bytes before compression, because compressed sizes depend on the
 * version of Node.js.
 * @param file path of `weights.json`
 */
export function checkRecordedWeights(file, folder, manifest, outputs) {
  const recorded = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8'))));
  const measured = measureWeights(folder, manifest, outputs);
  const grown = [...measured].filter(([name, bytes]) => bytes > (recorded.get(name) ?? 0));
  const gone = [...recorded.keys()].filter((name) => !measured.has(name));
  const problems = [
    ...grown.map(([name, bytes]) => `${name}: ${bytes} bytes, recorded ${recorded.get(name) ?? 'none'}`),
    ...gone.map((name) => `${name}: recorded, but not part of the build`),
  ];
  if (problems.length === 0) return;
  throw new Error(
    `the account area or the sign-in pages load more than web/weights.json records: ${problems.join('; ')}. ` +
      'If they need the addition themselves, record it in that file in the same commit.',
  );
}

function measureWeights(folder, manifest, outputs) {
  const size = (name) => statSync(join(folder, name)).size;
  const scripts = Object.entries(outputs).filter(([path]) => path.endsWith('.js'));
  const shared = scripts.filter(([, { entryPoint }]) => entryPoint === undefined);
  return new Map([
    ...SIGN_IN_FILES.map((name) => [name, size(manifest[name])]),
    ['account.css', size(manifest['account.css'])],
    // The other languages have only the common limit, so that a new language needs no record.
    ['account-en.json', size(manifest['account-en.json'])],
    ['shared scripts', shared.reduce((sum, [path]) => sum + size(basename(path)), 0)],
    ...scripts
      .filter(([, { entryPoint }]) => entryPoint !== undefined)
      .map(([path, { entryPoint }]) => [entryPoint, size(basename(path))])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);
}
