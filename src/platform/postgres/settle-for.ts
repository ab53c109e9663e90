import { resumeTask, type Task } from '#platform/base/tasks.ts';

/**
 * A promise that `start` settles by callback: later, from outside any stretch, which continues as a new stretch of
 * `task`, or at once, which does not.
 */
export function settleFor<T>(
  task: Task | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isStarting = true;
    start(
      (value) => (isStarting ? resolve(value) : resumeTask(task, () => resolve(value))),
      (error) => (isStarting ? reject(error) : resumeTask(task, () => reject(error))),
    );
    isStarting = false;
  });
}
