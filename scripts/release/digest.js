import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK = 4 * 1024 * 1024;

/** Returns the digest of a file, which may be larger than the memory. */
export function digestOfFile(path, algorithm, encoding = 'hex') {
  const hash = createHash(algorithm);
  const file = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(CHUNK);
  try {
    for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
  return hash.digest(encoding);
}

export const sha256 = (path) => digestOfFile(path, 'sha256');
