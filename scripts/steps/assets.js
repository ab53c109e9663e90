import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { compress } from './compress.js';

const BUNDLED = new Set(['.css', '.js']);

/**
 * Writes each asset under a name with a content hash, so that browsers can cache it indefinitely. Also writes the
 * compressed variants `.br` and `.gz`, and `manifest.json`: published name by plain name.
 * @param browserEntries scripts outside of the folder: `X.browser.ts` becomes the asset `X.js`
 */
export async function publishAssets(from, to, browserEntries = []) {
  mkdirSync(to, { recursive: true });
  const manifest = {};
  const files = existsSync(from) ? readdirSync(from).map((name) => join(from, name)) : [];
  for (const file of [...files, ...browserEntries].toSorted()) {
    const name = basename(file).replace(/\.browser\.ts$/, '.js');
    const extension = extname(name);
    const content = BUNDLED.has(extension) ? await bundled(file) : readFileSync(file);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
    const published = `${name.slice(0, -extension.length)}-${hash}${extension}`;
    manifest[name] = published;
    writeFileSync(join(to, published), content);
    compress(join(to, published));
  }
  writeFileSync(join(to, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function bundled(file) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [file],
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    logLevel: 'warning',
  });
  return outputFiles[0].contents;
}
