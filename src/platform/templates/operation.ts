import type { Meter } from './meter.ts';
import type { Value } from './values.ts';

/** A filter, or a method of a text. */
export interface Operation {
  /** Names of its parameters, in their order. */
  readonly parameters: readonly string[];
  /** How many of them must be given. */
  readonly required: number;
  /** It also takes what is not there. */
  readonly takesUndefined?: boolean;
  /** Parameters that are not given are undefined. Throws Failure; pays for the text that it goes through. */
  readonly apply: (meter: Meter, target: Value, given: readonly Value[]) => Value;
}
