import { outside } from '#platform/base/tasks.ts';

/** Waits for code of the operator, which need not come to an end. @throws Error when it has not by then */
export function inTime<T>(answer: PromiseLike<T>, milliseconds: number, problem: string): Promise<T> {
  return outside(
    new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(problem)), milliseconds);
      answer.then(
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
