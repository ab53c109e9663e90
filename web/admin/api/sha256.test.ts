import { afterEach, expect, test, vi } from 'vitest';
import { digest, sha256 } from './sha256.ts';

afterEach(() => vi.unstubAllGlobals());

async function expected(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

test('equals the digest of the platform for texts around the block size', async () => {
  for (let length = 0; length <= 200; length += 1) {
    const bytes = new TextEncoder().encode('ä9~'.repeat(100).slice(0, length));
    expect(digest(bytes)).toEqual(await expected(bytes));
  }
});

test('works without the Web Crypto API', async () => {
  const wanted = await expected(new TextEncoder().encode('verifier'));
  expect(await sha256('verifier')).toEqual(wanted);
  vi.stubGlobal('crypto', {});
  expect(await sha256('verifier')).toEqual(wanted);
});
