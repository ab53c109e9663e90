import { resumeTask, Task } from '#platform/base/tasks.ts';

/**
 * Runs `work` as a task of its own, as the server runs a request; resolves with the task and its figures, and who awaits
 * it goes on outside of the task.
 */
export function runTask(id: string, work: () => Promise<unknown>): Promise<Task> {
  const task = new Task(id);
  return new Promise((resolve, reject) => {
    resumeTask(task, () => {
      work().then(
        () => setImmediate(resolve, task),
        (error: unknown) => setImmediate(reject, error),
      );
    });
  });
}
