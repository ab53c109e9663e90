import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { catalogues } from './catalogues.js';
import { compress } from './compress.js';
import { checkRecordedWeights, checkWeights } from './web-weights.js';

/**
 * Bundles the account area (`web/`) into the assets folder: `account.js` and its lazy chunks, `account.css`, the texts
 * of each language, and `account.imports.json`, the chunks that the script needs to start. Fails if a file exceeds its
 * size budget.
 * @param root directory of `package.json`
 * @param to folder with the `manifest.json` that the files are added to
 */
export async function publishWeb(root, to) {
  const entry = join(root, 'web/main.tsx');
  if (!existsSync(entry)) return;
  mkdirSync(to, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8'));
  const { outputs, imports } = await bundle(root, to, entry);
  for (const path of Object.keys(outputs)) {
    // Source maps are found by the names of their scripts.
    if (!path.endsWith('.map')) manifest[plainName(outputs[path], path)] = basename(path);
  }
  for (const [name, published, text] of catalogues(join(root, 'locales'))) {
    manifest[name] = published;
    writeFileSync(join(to, published), text);
  }
  writeFileSync(join(to, 'account.imports.json'), `${JSON.stringify(imports)}\n`);
  for (const name of Object.values(manifest)) compress(join(to, name));
  checkWeights(to, manifest, outputs);
  checkRecordedWeights(join(root, 'web/weights.json'), to, manifest, outputs);
  writeFileSync(join(to, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function bundle(root, to, entry) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { account: entry },
    outdir: to,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    // The scripts do not reference their maps. If the service serves the maps, it sends a header.
    sourcemap: 'external',
    format: 'esm',
    platform: 'browser',
    // Safari 16.4 is the oldest browser (account-graphql 8.8).
    target: ['safari16.4', 'chrome120', 'firefox120'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: 'account-[hash]',
    plugins: [sharedCode(root)],
    logLevel: 'warning',
  });
  const { outputs } = metafile;
  const main = Object.values(outputs).find((output) => output.entryPoint === 'web/main.tsx');
  const imports = main.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  return { outputs, imports };
}

/**
 * Makes the application and all components part of the first script and of every page, so that shared code ends up in
 * one file. Otherwise the bundler creates one chunk for each set of pages with shared code, and each chunk is a
 * request.
 */
function sharedCode(root) {
  const components = join(root, 'web/components');
  const files = [join(root, 'web/app.tsx'), ...readdirSync(components).map((name) => join(components, name))];
  // Relative imports, because source maps must not contain paths of this machine, and file names contain their hash.
  const importsOf = (folder) =>
    files.map((file) => `import ${JSON.stringify(`./${relative(folder, file).replaceAll('\\', '/')}`)};`).join('');
  return {
    name: 'shared-code',
    setup(build) {
      build.onLoad({ filter: /[\\/]web[\\/](?:main\.tsx|pages[\\/][^\\/]+[\\/]pages\.ts)$/ }, ({ path }) => ({
        contents: importsOf(dirname(path)) + readFileSync(path, 'utf8'),
        loader: 'tsx',
      }));
    },
  };
}

/** Returns the name without hash for entry points. Other chunks are known only by their published names. */
function plainName({ entryPoint }, path) {
  const name = basename(path);
  return entryPoint === 'web/main.tsx' ? 'account.js' : name.endsWith('.css') ? 'account.css' : name;
}
