import { describe, expect, test } from 'vitest';
import { leastOf } from '#test/support/measuring.ts';
import { bankCurrentStretch, currentTask, delay, outside, resumeTask, Task } from './tasks.ts';

/** Runs `work` in a new task and resolves with the task when it is done. */
function run(id: string, work: () => Promise<void>): Promise<Task> {
  const task = new Task(id);
  return new Promise((resolve, reject) => {
    resumeTask(task, () => {
      work().then(() => {
        bankCurrentStretch();
        resolve(task);
      }, reject);
    });
  });
}

function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe('one owner at a time', () => {
  test('charges a task for its own work and not for its waiting time', async () => {
    const spinning = await run('a', async () => spin(30));
    expect(spinning.cpuMs).toBeGreaterThanOrEqual(29);
    expect(spinning.polls).toBe(1);
    const charged = await leastOf(async () => {
      const waiting = await run('b', () => delay(30));
      expect(waiting.polls).toBe(2);
      return waiting.cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('charges neither of two concurrent tasks for the other', async () => {
    const charged = await leastOf(async () => {
      const [spinning, waiting] = await Promise.all([
        run('spinning', async () => {
          await delay(1);
          spin(50);
          await Promise.resolve();
          spin(10);
        }),
        run('waiting', async () => {
          for (let round = 0; round < 10; round += 1) await delay(5);
        }),
      ]);
      expect(spinning.cpuMs).toBeGreaterThanOrEqual(59);
      expect(waiting.polls).toBe(11);
      return waiting.cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('awaiting a settled promise starts no new stretch', async () => {
    const task = await run('a', async () => {
      for (let round = 0; round < 100; round += 1) await Promise.resolve();
    });
    expect(task.polls).toBe(1);
  });

  test('keeps the task across everything it awaits, invisible to other tasks', async () => {
    const seen: (string | undefined)[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((id) =>
        run(id, async () => {
          for (let round = 0; round < 3; round += 1) {
            await outside(new Promise((resolve) => setImmediate(resolve)));
            if (currentTask()?.id !== id) seen.push(currentTask()?.id);
          }
        }),
      ),
    );
    expect(seen).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(currentTask()).toBeUndefined();
  });

  test('delivers simultaneous completions one after another', async () => {
    const order: string[] = [];
    const gate = new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.all(
      ['a', 'b'].map((id) =>
        run(id, async () => {
          await outside(gate);
          order.push(`${id} begins`);
          await Promise.resolve();
          await Promise.resolve();
          order.push(`${id} ends`);
        }),
      ),
    );
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });
});
