import { resumeTask, Task } from '#platform/base/tasks.ts';

/** Runs `work` as a separate task, like a request, and returns its result and its task with the recorded costs. */
export function measured<T>(work: () => Promise<T>): Promise<{ result: T; task: Task }> {
  const task = new Task('TEST-1');
  return new Promise((resolve, reject) => {
    resumeTask(task, () => {
      work().then((result) => resolve({ result, task }), reject);
    });
  });
}
