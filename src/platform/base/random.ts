import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Returns `count` bytes from the operating system's generator. They come from a pool, because generating a few bytes
 * costs as much as thousands. The pool erases the bytes that it returns.
 */
export function randomBytes(count: number): Buffer {
  if (count > POOL_BYTES) return randomFillSync(Buffer.allocUnsafe(count));
  if (used + count > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns `length` characters of `0-9A-Za-z` with equal probability (bytes of 248 and above are discarded). */
export function randomAlphanumeric(length: number): string {
  let text = '';
  while (text.length < length) text = appendAlphanumeric(text, randomBytes(length + 8), length);
  return text;
}

/** Maps bytes to `0-9A-Za-z` by rejection sampling, up to `length` characters. Also used for derived tokens. */
export function appendAlphanumeric(text: string, bytes: Uint8Array, length: number): string {
  let result = text;
  for (const byte of bytes) {
    if (result.length === length) break;
    if (byte < 248) result += ALPHANUMERIC.charAt(byte % 62);
  }
  return result;
}

/** Returns 43 base64url characters (256 bits), for authorization codes and other one-time values. */
export function randomBase64Url(): string {
  return randomBytes(32).toString('base64url');
}
