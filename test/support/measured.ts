import { resumeTask, Task } from '#platform/base/tasks.ts';

/** Runs `work` as a task of its own, as a request is, and returns its result and what it cost. */
export function measured<T>(work: () => Promise<T>): Promise<{ result: T; task: Task }> {
  const task = new Task('TEST-1');
  return new Promise((resolve, reject) => {
    resumeTask(task, () => {
      work().then((result) => resolve({ result, task }), reject);
    });
  });
}
