import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-lock-'));
  path = join(directory, 'lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Long enough for a second holder to be noticed. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3));

test('lock: twenty callers hold it one at a time, and no file remains', async () => {
  let holders = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    holders += 1;
    most = Math.max(most, holders);
    await turn();
    holders -= 1;
  };
  await Promise.all(Array.from({ length: 20 }, () => withLock(path, 10_000, work)));
  expect(most).toBe(1);
  expect(readdirSync(directory)).toEqual([]);
});

test('lock: left by an ended process, or one whose id was reused, it goes to one caller', async () => {
  for (const stale of ['999999999 boot-1 abc\n', `${process.pid} earlier-1 abc\n`, '']) {
    writeFileSync(path, stale);
    let holders = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, () =>
        withLock(path, 10_000, async () => {
          holders += 1;
          most = Math.max(most, holders);
          await turn();
          holders -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
  }
  expect(readdirSync(directory)).toEqual([]);
});

test('lock: it is released when the work fails', async () => {
  await expect(withLock(path, 1000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(path, 1000, async () => 'free')).toBe('free');
});

test('lock: held by a living process, waiting ends with exit 75 naming that process', async () => {
  await withLock(path, 1000, async () => {
    const held = readFileSync(path, 'utf8');
    await expect(withLock(path, 30, async () => undefined)).rejects.toMatchObject({
      exitCode: 75,
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(readFileSync(path, 'utf8')).toBe(held);
  });
});
