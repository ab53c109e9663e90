import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { catalogues } from './catalogues.js';
import { compress } from './compress.js';
import { checkAdminWeights, checkRecordedWeights, checkWeights } from './web-weights.js';

/** The applications of `web/`, each with its own scripts: a change of one never changes what the other loads. */
export const AREAS = [
  { name: 'account', entry: 'web/main.tsx', folder: 'web' },
  { name: 'admin', entry: 'web/admin/main.tsx', folder: 'web/admin' },
];

/**
 * Bundles the applications of `web/` into the assets folder. Each has its script and lazy chunks, a stylesheet, the
 * texts of each language, and `NAME.imports.json`, the chunks that its script needs to start. Fails if a file exceeds
 * its size budget.
 * @param root directory of `package.json`
 * @param to folder with the `manifest.json` that the files are added to
 */
export async function publishWeb(root, to) {
  if (!existsSync(join(root, 'web'))) return;
  mkdirSync(to, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8'));
  const outputs = {};
  for (const area of AREAS) outputs[area.name] = await publishArea(root, to, area, manifest);
  for (const [name, published, text] of catalogues(join(root, 'locales'))) {
    manifest[name] = published;
    writeFileSync(join(to, published), text);
  }
  for (const name of Object.values(manifest)) compress(join(to, name));
  checkWeights(to, manifest, outputs.account);
  checkRecordedWeights(join(root, 'web/weights.json'), to, manifest, outputs.account);
  checkAdminWeights(to, manifest, outputs.admin);
  writeFileSync(join(to, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** @returns the outputs of the bundler by path */
async function publishArea(root, to, area, manifest) {
  const outputs = await bundle(root, to, area);
  for (const path of Object.keys(outputs)) {
    // Source maps are found by the names of their scripts.
    if (!path.endsWith('.map')) manifest[plainName(area, outputs[path], path)] = basename(path);
  }
  const main = Object.values(outputs).find((output) => output.entryPoint === area.entry);
  const imports = main.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  writeFileSync(join(to, `${area.name}.imports.json`), `${JSON.stringify(imports)}\n`);
  return outputs;
}

async function bundle(root, to, area) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [area.name]: area.entry },
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
    chunkNames: `${area.name}-[hash]`,
    plugins: [sharedCode(root, area)],
    logLevel: 'warning',
  });
  return metafile.outputs;
}

/**
 * Makes the application and all components part of the first script and of every page, so that shared code ends up in
 * one file. Otherwise the bundler creates one chunk for each set of pages with shared code, and each chunk is a
 * request.
 */
function sharedCode(root, { entry, folder }) {
  const components = join(root, folder, 'components');
  const names = readdirSync(components).filter((name) => !name.includes('.test.'));
  const files = [join(root, folder, 'app.tsx'), ...names.map((name) => join(components, name))];
  // Relative imports, because source maps must not contain paths of this machine, and file names contain their hash.
  const importsOf = (from) =>
    files.map((file) => `import ${JSON.stringify(`./${relative(from, file).replaceAll('\\', '/')}`)};`).join('');
  const main = join(root, entry);
  return {
    name: 'shared-code',
    setup(build) {
      build.onLoad({ filter: /[\\/](?:main\.tsx|pages[\\/][^\\/]+[\\/]pages\.ts)$/ }, ({ path }) => {
        if (path !== main && !path.startsWith(join(root, folder, 'pages'))) return undefined;
        return { contents: importsOf(dirname(path)) + readFileSync(path, 'utf8'), loader: 'tsx' };
      });
    },
  };
}

/** Returns the name without hash for entry points. Other chunks are known only by their published names. */
function plainName({ name: area, entry }, { entryPoint }, path) {
  const name = basename(path);
  return entryPoint === entry ? `${area}.js` : name.endsWith('.css') ? `${area}.css` : name;
}
