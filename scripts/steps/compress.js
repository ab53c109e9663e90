import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSED = new Set(['.css', '.js', '.svg', '.json']);
// The best compression of a larger file takes seconds and saves a twentieth of it.
const LARGE_BYTES = 512 * 1024;

/** Writes the compressed forms `.br` and `.gz` next to a file, where they are worth it and not there yet. */
export function compress(path) {
  if (!COMPRESSED.has(extname(path)) || existsSync(`${path}.br`)) return;
  const content = readFileSync(path);
  const quality = content.length > LARGE_BYTES ? 9 : constants.BROTLI_MAX_QUALITY;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
