import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const MINIFIED = new Set(['.css', '.js']);
const COMPRESSED = new Set(['.css', '.js', '.svg', '.json']);

/**
 * Writes each asset under a name that holds a hash of its content, so that browsers may keep it for ever, beside it
 * the compressed forms `.br` and `.gz`, and `manifest.json`: published name by plain name.
 */
export async function publishAssets(from, to) {
  mkdirSync(to, { recursive: true });
  const manifest = {};
  for (const name of existsSync(from) ? readdirSync(from).toSorted() : []) {
    const extension = extname(name);
    const content = await minified(readFileSync(join(from, name)), extension);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
    const published = `${name.slice(0, -extension.length)}-${hash}${extension}`;
    manifest[name] = published;
    writeFileSync(join(to, published), content);
    if (COMPRESSED.has(extension)) {
      writeFileSync(join(to, `${published}.br`), brotliCompressSync(content));
      writeFileSync(join(to, `${published}.gz`), gzipSync(content, { level: 9 }));
    }
  }
  writeFileSync(join(to, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function minified(content, extension) {
  if (!MINIFIED.has(extension)) return content;
  const { transform } = await import('esbuild');
  const { code } = await transform(content, { loader: extension.slice(1), minify: true });
  return Buffer.from(code);
}
