import { describe, expect, test } from 'vitest';
import { delay } from '#platform/base/tasks.ts';
import { measured } from '#test/support/measured.ts';
import { leastOf } from '#test/support/measuring.ts';
import { HashQueue } from './hash-queue.ts';

/** Work that ends when the test decides. */
class Workbench {
  running = 0;
  most = 0;
  readonly #finish: (() => void)[] = [];

  readonly work = (): Promise<string> => {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    return new Promise((resolve) => {
      this.#finish.push(() => {
        this.running -= 1;
        resolve('done');
      });
    });
  };

  /** Ends the running work and all work that starts as a result. */
  async drain(): Promise<void> {
    while (this.#finish.length > 0) {
      this.#finish.shift()?.();
      await delay(0);
    }
  }
}

function queueOf(options: { concurrency: number; length: number; maxWaitMs?: number }): HashQueue {
  return new HashQueue({ maxWaitMs: 60_000, ...options });
}

describe('the password hash queue (operations 9.2, S-143)', () => {
  test('runs no more hashes at once than its concurrency, and completes all', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 2, length: 100 });
    const all = Array.from({ length: 20 }, (_, index) => queue.run(bench.work, { address: `192.0.2.${index}` }));
    expect(queue.running).toBe(2);
    expect(queue.waiting).toBe(18);
    await bench.drain();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, () => 'done'));
    expect(bench.most).toBe(2);
    expect(queue.running).toBe(0);
  });

  test('F-25: new limits apply to waiting work, and running work exceeds them only until it ends', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 2, length: 100 });
    const ask = (index: number) => queue.run(bench.work, { address: `192.0.2.${index}` });
    const all = Array.from({ length: 12 }, (_, index) => ask(index));
    queue.limit({ concurrency: 4, length: 8 });
    expect([queue.running, queue.waiting]).toEqual([4, 8]);
    await expect(ask(20)).rejects.toMatchObject({ code: 'overloaded' });
    await delay(0);
    queue.limit({ concurrency: 1, length: 8 });
    bench.most = 0;
    await bench.drain();
    await Promise.all(all);
    expect(bench.most).toBe(1);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  test('a full queue rejects immediately with a time to retry', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 1, length: 4 });
    const admitted = [0, 1, 2, 3, 4].map((index) => queue.run(bench.work, { address: `192.0.2.${index}` }));
    await expect(queue.run(bench.work, { address: '192.0.2.9' })).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 5,
    });
    await bench.drain();
    await Promise.all(admitted);
  });

  test('one address takes at most a quarter of the queue', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 1, length: 8 });
    const greedy = { address: '192.0.2.1' };
    const admitted = [queue.run(bench.work, greedy), queue.run(bench.work, greedy), queue.run(bench.work, greedy)];
    await expect(queue.run(bench.work, greedy)).rejects.toMatchObject({ code: 'overloaded' });
    admitted.push(queue.run(bench.work, { address: '192.0.2.2' }));
    await bench.drain();
    await Promise.all(admitted);
    const again = queue.run(bench.work, greedy);
    await bench.drain();
    expect(await again).toBe('done');
  });

  test('a request whose client disconnected gives up its slot', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 1, length: 4 });
    const first = queue.run(bench.work, { address: 'a' });
    const client = new AbortController();
    const left = queue.run(bench.work, { address: 'b', signal: client.signal });
    expect(queue.waiting).toBe(1);
    client.abort();
    await expect(left).rejects.toMatchObject({ code: 'overloaded' });
    expect(queue.waiting).toBe(0);
    await bench.drain();
    await first;
    expect(bench.most).toBe(1);
    await expect(queue.run(bench.work, { address: 'b', signal: client.signal })).rejects.toThrow();
  });

  test('no request waits longer than allowed', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 1, length: 4, maxWaitMs: 20 });
    const first = queue.run(bench.work, { address: 'a' });
    await expect(queue.run(bench.work, { address: 'b' })).rejects.toMatchObject({ code: 'overloaded' });
    expect(queue.waiting).toBe(0);
    await bench.drain();
    await first;
  });

  test('work that fails frees its slot', async () => {
    const queue = queueOf({ concurrency: 1, length: 4 });
    const failing = (): Promise<never> => Promise.reject(new Error('no memory'));
    const both = [queue.run(failing, { address: 'a' }), queue.run(failing, { address: 'b' })];
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe('rejected');
    expect(queue.running).toBe(0);
  });

  test('work that throws synchronously frees its slot too', async () => {
    const queue = queueOf({ concurrency: 1, length: 4 });
    const throwing = (): Promise<never> => {
      throw new Error('no such function');
    };
    const both = [queue.run(throwing, { address: 'a' }), queue.run(throwing, { address: 'b' })];
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe('rejected');
    expect(queue.running).toBe(0);
    expect(await queue.run(async () => 'done', { address: 'c' })).toBe('done');
  });

  test('a client that disconnects when its turn comes costs no hash', async () => {
    const bench = new Workbench();
    const queue = queueOf({ concurrency: 1, length: 4 });
    const client = new AbortController();
    const first = queue.run(() => bench.work().finally(() => process.nextTick(() => client.abort())), { address: 'a' });
    const left = queue.run(bench.work, { address: 'b', signal: client.signal });
    await Promise.all([bench.drain(), first, expect(left).rejects.toMatchObject({ code: 'overloaded' })]);
    expect(queue.running).toBe(0);
  });

  test('hashing time is charged to the request, queueing time is not', async () => {
    const queue = queueOf({ concurrency: 1, length: 4 });
    const work = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));
    const charged = await leastOf(async () => {
      const [first, second] = await Promise.all([
        measured(() => queue.run(work, { address: 'a' })),
        measured(() => queue.run(work, { address: 'b' })),
      ]);
      expect(first.task.cpuMs).toBeGreaterThan(50);
      expect(second.task.cpuMs).toBeGreaterThan(50);
      expect(first.task.polls).toBe(2);
      expect(second.task.polls).toBe(3);
      return second.task.cpuMs;
    }, 110);
    expect(charged).toBeLessThanOrEqual(110);
  });
});
