/**
 * Writes every generated file of the repository: the reference pages of the manual, the import graph, the plot and the
 * tables of the benchmark, and the JSON Schema of the configuration for editors. `--check` writes nothing and fails if a
 * file differs.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isCheck = process.argv.includes('--check');
// Below node_modules, so that the bundle resolves external packages.
const bundle = join(root, `node_modules/.cache/generate-reference.${process.pid}.mjs`);

await build({
  absWorkingDir: root,
  entryPoints: ['scripts/reference/pages.ts'],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});
let differing = 0;
try {
  const { referencePages } = await import(pathToFileURL(bundle).href);
  const pages = Object.entries(await referencePages(root));
  for (const [name, text] of pages) {
    const path = join(root, name);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    differing += 1;
    process.stderr.write(
      `${name} ${isCheck ? 'differs from the source: run node scripts/generate-reference.js' : 'written'}\n`,
    );
    if (isCheck) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  process.stdout.write(`${pages.length} generated files compared, ${differing} ${isCheck ? 'differ' : 'written'}\n`);
} finally {
  await rm(bundle, { force: true });
}
process.exitCode = isCheck && differing > 0 ? 1 : 0;
