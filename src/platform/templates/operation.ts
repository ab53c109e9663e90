import type { Meter } from './meter.ts';
import type { Value } from './values.ts';

/** A filter or a string method. */
export interface Operation {
  /** Parameter names in order. */
  readonly parameters: readonly string[];
  /** Number of required parameters. */
  readonly required: number;
  /** Whether it accepts an undefined target. */
  readonly takesUndefined?: boolean;
  /** Omitted parameters are undefined. Throws Failure. Pays for the text that it processes. */
  readonly apply: (meter: Meter, target: Value, given: readonly Value[]) => Value;
}
