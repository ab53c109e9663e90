import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import { currentTask, resumeTask, type Task } from '#platform/base/tasks.ts';
import { refusal } from './graphql-refusal.ts';

/** The deadline for resolving the fields of one request. */
export class Deadline {
  readonly expired: Promise<never>;
  readonly #task: Task | undefined = currentTask();
  readonly #timer: NodeJS.Timeout;
  readonly #reject: (error: Error) => void;
  #isDue = false;
  #isOver = false;
  #commits = 0;

  constructor(seconds: number) {
    const { promise, reject } = withReject();
    this.expired = promise;
    this.#reject = reject;
    // If every field resolves synchronously, nothing awaits this promise.
    promise.catch(() => undefined);
    this.#timer = setTimeout(() => {
      this.#isDue = true;
      this.#expire();
    }, seconds * 1000);
  }

  /** When true, unresolved fields fail. */
  get isOver(): boolean {
    return this.#isOver;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Marks that a change is about to be committed. The deadline does not expire until `leaveCommit`, because a committed
   * change must be reported.
   * @throws GraphQLError `TIMEOUT` if the deadline has already expired, so the response says that nothing changed
   */
  enterCommit(): void {
    if (this.#isOver) throw tooLate();
    this.#commits += 1;
  }

  leaveCommit(): void {
    this.#commits -= 1;
    // Code that awaits the change runs first.
    setImmediate(() => this.#expire());
  }

  #expire(): void {
    if (!this.#isDue || this.#isOver || this.#commits > 0) return;
    this.#isOver = true;
    resumeTask(this.#task, () => this.#reject(tooLate()));
  }
}

/** Makes the fields of a schema fail with `TIMEOUT` after the deadline of their request. */
export function limitFieldsByDeadline(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    // The outcome of a mutation is already known. The objects below it are still read, and may time out.
    const isKnown = type.name.endsWith('Payload');
    for (const field of Object.values(type.getFields())) {
      if (field.resolve !== undefined) field.resolve = limited(field.resolve, isKnown);
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, { readonly deadline: Deadline }>;

function limited(resolve: Resolver, isKnown: boolean): Resolver {
  return (source, given, context, info) => {
    const { deadline } = context;
    if (deadline.isOver && !isKnown) throw tooLate();
    const value: unknown = resolve(source, given, context, info);
    return value instanceof Promise ? Promise.race([value, deadline.expired]) : value;
  };
}

function withReject(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  return { promise, reject };
}

function tooLate(): Error {
  return refusal('TIMEOUT', 'the request exceeded its time limit');
}
