import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openingKeys, promoteNextRootKey, publishNextRootKey, readRootKeys } from './root-key-files.ts';

let dataDir: string;
const FIRST = 'ab'.repeat(32);
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'latchkey-root-key-'));
  writeFileSync(join(dataDir, 'encryption.key'), `${FIRST}\n`, { mode: 0o600 });
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function keys() {
  const read = readRootKeys(dataDir);
  if (read === undefined) throw new Error('there are no keys');
  return read;
}

test('each replacement step lists every key that stored values may be sealed with', async () => {
  await publishNextRootKey(dataDir);
  const { next = '' } = keys();
  expect(next).toMatch(/^[0-9a-f]{64}$/);
  expect([keys().current, openingKeys(keys())]).toEqual([FIRST, [next]]);
  await publishNextRootKey(dataDir);
  expect(keys().next).toBe(next);

  await promoteNextRootKey(dataDir, keys());
  expect(keys()).toEqual({ current: next, next: undefined, previous: [FIRST] });
  expect(readdirSync(dataDir).sort()).toEqual(['encryption.key', 'encryption.previous']);
  for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
});

test('a promotion interrupted after the former key was kept can be repeated', async () => {
  await publishNextRootKey(dataDir);
  const { next } = keys();
  writeFileSync(join(dataDir, 'encryption.previous'), `${FIRST}\n`, { mode: 0o600 });
  expect([keys().current, openingKeys(keys())]).toEqual([FIRST, [next]]);
  await promoteNextRootKey(dataDir, keys());
  expect(keys()).toEqual({ current: next, next: undefined, previous: [FIRST] });
});

test('reports a file with other content without showing the content', async () => {
  writeFileSync(join(dataDir, 'encryption.previous'), 'a-secret-of-another-kind\n');
  expect(() => readRootKeys(dataDir)).toThrow(/encryption\.previous must contain only keys/);
  expect(() => readRootKeys(dataDir)).not.toThrow(/a-secret/);
  expect(readRootKeys(join(dataDir, 'none'))).toBeUndefined();
});
