import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * Compares every generated file with the source, and names each that differs on standard error.
 * @param root directory of `package.json`; @param program of the product; @param isCheck writes nothing
 * @returns the number of files that differ
 */
export async function comparePages({ root, program, isCheck }) {
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
  try {
    const { referencePages } = await import(pathToFileURL(bundle).href);
    const pages = Object.entries(await referencePages(root, program));
    let differing = 0;
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
    return differing;
  } finally {
    await rm(bundle, { force: true });
  }
}
