import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { catalogues } from './catalogues.js';
import { compress } from './compress.js';
import { checkWeights } from './web-weights.js';

/**
 * Bundles the account area (`web/`) into the folder of the assets: `account.js` and the parts that it loads for a page,
 * `account.css`, the texts of each language, and `account.imports.json`, the parts that the script cannot start
 * without. Fails when a part is heavier than it may be.
 * @param root folder of `package.json`
 * @param to folder with the `manifest.json` that the files are added to
 */
export async function publishWeb(root, to) {
  const entry = join(root, 'web/main.tsx');
  if (!existsSync(entry)) return;
  mkdirSync(to, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8'));
  const { outputs, imports } = await bundle(root, to, entry);
  for (const path of Object.keys(outputs)) {
    // Maps are found by the names of their scripts.
    if (!path.endsWith('.map')) manifest[plainName(outputs[path], path)] = basename(path);
  }
  for (const [name, published, text] of catalogues(join(root, 'locales'))) {
    manifest[name] = published;
    writeFileSync(join(to, published), text);
  }
  writeFileSync(join(to, 'account.imports.json'), `${JSON.stringify(imports)}\n`);
  for (const name of Object.values(manifest)) compress(join(to, name));
  checkWeights(to, manifest, outputs);
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
    // Nothing in the script tells of it: the service does, where it serves them.
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
 * Lets the first script and every page know the application and all components, so that what they share is one file:
 * left alone, the bundler makes one for each set of pages that share something, and each of them is a request.
 */
function sharedCode(root) {
  const components = join(root, 'web/components');
  const files = [join(root, 'web/app.tsx'), ...readdirSync(components).map((name) => join(components, name))];
  // Relative ones: no path of the machine belongs in the source map, whose content names the published file.
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

/** Of entries the name without the hash; the parts are known by their published names alone. */
function plainName({ entryPoint }, path) {
  const name = basename(path);
  return entryPoint === 'web/main.tsx' ? 'account.js' : name.endsWith('.css') ? 'account.css' : name;
}
