/** Runs generated inputs through our code and a library. Every difference must be a listed decision. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';

/** Fixed, so that every run has the same inputs. A failure prints it with the path to the smallest input. */
const SEED = 20_261_128;

export interface Comparison<Input, Result> {
  readonly inputs: fc.Arbitrary<Input>;
  readonly count: number;
  /** Tried first. */
  readonly examples?: readonly Input[];
  /** Must not throw. */
  readonly ours: (input: Input) => Result | Promise<Result>;
  /** Throws if the library rejects the input. */
  readonly library: (input: Input) => Result | Promise<Result>;
  /** Why results may differ, and whether that is the reason for this input. */
  readonly decisions: Readonly<Record<string, (input: Input, ours: Result, library: Result) => boolean>>;
}

/** What both sides return for a rejected input. */
export const REJECTED = 'rejected';

/** Fails on a difference without a decision, and for a decision that no input needs. */
export async function compare<Input, Result>(comparison: Comparison<Input, Result | typeof REJECTED>): Promise<void> {
  const { inputs, count, examples = [], ours, library, decisions } = comparison;
  const needed = new Set<string>();
  let same = 0;
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      const own = await ours(input);
      let reason: unknown;
      const other = await resultOf(
        () => library(input),
        (error) => {
          reason = error;
        },
      );
      if (isDeepStrictEqual(own, other)) {
        if (own !== REJECTED) same += 1;
        return;
      }
      const [decision] = Object.entries(decisions).find(([, explains]) => explains(input, own, other)) ?? [];
      if (decision === undefined) throw new Error(`ours: ${shown(own)}\nlibrary: ${shown(other)}`, { cause: reason });
      needed.add(decision);
    }),
    { seed: SEED, numRuns: count, examples: examples.map((input): [Input] => [input]) },
  );
  const idle = Object.keys(decisions).filter((decision) => !needed.has(decision));
  if (idle.length > 0) throw new Error(`no input needs these decisions: ${idle.join('; ')}`);
  if (same < count / 10) throw new Error(`only ${same} of ${count} inputs were accepted with the same result`);
}

async function resultOf<Result>(
  run: () => Result | Promise<Result>,
  rejected: (error: unknown) => void,
): Promise<Result | typeof REJECTED> {
  try {
    return await run();
  } catch (error) {
    rejected(error);
    return REJECTED;
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (member instanceof Map ? [...member] : member)) ?? 'undefined';
}
