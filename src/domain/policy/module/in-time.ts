import { outside } from '#platform/base/tasks.ts';

/**
 * Waits for the operator's code, which might never finish.
 * @throws Error if the time limit is exceeded
 */
export function inTime<T>(response: PromiseLike<T>, milliseconds: number, problem: string): Promise<T> {
  return outside(
    new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(problem)), milliseconds);
      response.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    }),
  );
}
