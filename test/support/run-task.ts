import { resumeTask, Task } from '#platform/base/tasks.ts';

/**
 * Runs `work` as a separate task, as the server runs a request. Resolves with the task and its figures. The caller
 * continues outside the task.
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
