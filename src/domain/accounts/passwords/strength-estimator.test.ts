import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { StrengthEstimator } from './strength-estimator.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-strength-'));
const workerUrl = pathToFileURL(join(directory, 'worker.mjs'));
// `slow` never finishes with the whole password, `endless` not even with a part of it. The score shows what was judged:
// the number of characters, or the thread ID.
writeFileSync(
  workerUrl,
  `import { parentPort, threadId } from 'node:worker_threads';
   parentPort.on('message', ({ password, maxCharacters }) => {
     parentPort.postMessage('begun');
     const isSlow = password.startsWith('slow') && maxCharacters === undefined;
     while (isSlow || password.startsWith('endless'));
     const score = password.startsWith('thread') ? threadId : (maxCharacters ?? 0);
     parentPort.postMessage({ score, isCommon: false });
   });`,
);

let estimator: StrengthEstimator;

afterEach(async () => await estimator.close());
afterAll(() => rmSync(directory, { recursive: true }));

const FOREVER_MS = 600_000;

function ask(password: string, address: string, signal?: AbortSignal): Promise<number> {
  return estimator.estimate(password, [], { address, signal }).then(({ score }) => score);
}

/** Does not wait for an answer, which may never come. */
function begin(password: string, address: string, signal?: AbortSignal): Promise<string> {
  return ask(password, address, signal).then(String, (error: Error) => error.message);
}

test('fifty simultaneous callers wait for the loading thread, and none is rejected', async () => {
  estimator = new StrengthEstimator(workerUrl, FOREVER_MS, FOREVER_MS);
  const users = Array.from({ length: 50 }, (_, index) => ask('quick', `address ${index}`));
  expect(await Promise.all(users)).toEqual(users.map(() => 0));
});

describe('passwords that are slow to estimate (S-183)', () => {
  test('are stopped after the time limit and estimated by their first characters; the thread is replaced', async () => {
    estimator = new StrengthEstimator(workerUrl, 500);
    expect(await ask('slow', 'a')).toBe(16);
    expect(await ask('quick', 'a')).toBe(0);
  });

  test('are rejected when even that takes too long, and the next is estimated', async () => {
    estimator = new StrengthEstimator(workerUrl, 500);
    await expect(ask('endless', 'a')).rejects.toMatchObject({ code: 'overloaded' });
    expect(await ask('quick', 'a')).toBe(0);
  });

  test('from one address do not delay others', async () => {
    estimator = new StrengthEstimator(workerUrl, FOREVER_MS);
    const endless = [1, 2, 3].map(() => begin('endless', 'attacker'));
    expect(await ask('quick', 'somebody')).toBe(0);
    expect(await ask('quick', 'somebody else')).toBe(0);
    await estimator.close();
    expect(await Promise.all(endless)).toEqual(endless.map(() => expect.stringContaining('closed')));
  });

  test('can queue up to four for one address, sixty-four for all', async () => {
    estimator = new StrengthEstimator(workerUrl, FOREVER_MS);
    const admitted = [];
    for (const address of 'abcdefghijklmnop') {
      for (let count = 0; count < 4; count += 1) admitted.push(begin('endless', address));
      await expect(ask('quick', address)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
    }
    await expect(ask('quick', 'q')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
    await estimator.close();
    await Promise.all(admitted);
  });

  test('delay others for a limited time only', async () => {
    estimator = new StrengthEstimator(workerUrl, FOREVER_MS, 300);
    const endless = ['a', 'b'].map((address) => begin('endless', address));
    expect(await begin('quick', 'c')).toContain('timed out');
    await estimator.close();
    expect(await Promise.all(endless)).toEqual(endless.map(() => expect.stringContaining('closed')));
  });

  test('are not started again after they timed out', async () => {
    estimator = new StrengthEstimator(workerUrl, 500, 100);
    expect(await begin('slow', 'a')).toContain('timed out');
  });

  test('use two threads at most', async () => {
    estimator = new StrengthEstimator(workerUrl, FOREVER_MS);
    const addresses = Array.from({ length: 10 }, (_, index) => `address ${index}`);
    const threads = await Promise.all(addresses.map((address) => ask('thread', address)));
    expect(new Set(threads).size).toBeLessThanOrEqual(2);
  });

  test('alternate: an address with many comes after one with few', async () => {
    estimator = new StrengthEstimator(workerUrl, FOREVER_MS);
    // With one of the two threads busy, answers arrive in the order of the requests' turns.
    const endless = begin('endless', 'attacker');
    const order: string[] = [];
    const requested = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'b-3', 'c-1'].map((password) =>
      ask(password, password.slice(0, 1)).then(() => order.push(password)),
    );
    await Promise.all(requested);
    expect(order.indexOf('c-1')).toBeLessThan(order.indexOf('a-3'));
    expect(order.indexOf('c-1')).toBeLessThan(order.indexOf('b-2'));
    await estimator.close();
    await endless;
  });
});

test('a request whose client disconnected is removed from the queue', async () => {
  estimator = new StrengthEstimator(workerUrl, FOREVER_MS);
  const client = new AbortController();
  const endless = begin('endless', 'a');
  const left = begin('quick', 'a', client.signal);
  client.abort();
  expect(await left).toContain('client disconnected');
  expect(await begin('quick', 'a', client.signal)).toContain('client disconnected');
  await estimator.close();
  await endless;
});

test('a thread that cannot start fails its request, not the process', async () => {
  estimator = new StrengthEstimator(new URL('file:///no-such-worker.mjs'));
  await expect(ask('quick', 'a')).rejects.toThrow();
});
