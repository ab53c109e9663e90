import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles a worker entry as the build does, so that a test can start it. The oldest supported Node.js does not run
 * TypeScript.
 * @param entry the `*.worker.ts` file
 */
export async function bundleWorker(entry: URL): Promise<URL> {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-worker-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, basename(entry.pathname).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  });
  return pathToFileURL(outfile);
}
