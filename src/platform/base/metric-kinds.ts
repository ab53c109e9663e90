/** What is said of a metric in `metric-table.ts`. */
export interface Metric<Kind extends 'counter' | 'gauge' | 'histogram', Label extends string> {
  readonly kind: Kind;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Values of all labels that are known beforehand: each combination is shown with 0 from the start. */
  readonly known?: Readonly<Record<Label, readonly string[]>>;
  /** Upper bounds, in seconds. */
  readonly buckets?: readonly number[];
  /** How the values of several processes become one; the sum unless given. */
  readonly across?: 'average' | 'first' | 'max' | 'min';
  /** Its name by the semantic conventions of OpenTelemetry, where they have one. */
  readonly openTelemetry?: string;
}

type Options<Kind extends 'counter' | 'gauge' | 'histogram'> = Pick<Metric<Kind, string>, 'across' | 'openTelemetry'>;

/** @param known values of every label; undefined: they are known to the program only when it runs */
export function counter<const Label extends string>(
  help: string,
  labels: readonly Label[],
  known?: Readonly<Record<NoInfer<Label>, readonly string[]>>,
  options: Options<'counter'> = {},
): Metric<'counter', Label> {
  return { kind: 'counter', help, labels, ...(known !== undefined && { known }), ...options };
}

export function gauge<const Label extends string>(
  help: string,
  labels: readonly Label[],
  options: Options<'gauge'> = {},
): Metric<'gauge', Label> {
  return { kind: 'gauge', help, labels, ...options };
}

export function histogram<const Label extends string>(
  help: string,
  labels: readonly Label[],
  buckets: readonly number[],
  options: Options<'histogram'> = {},
): Metric<'histogram', Label> {
  return { kind: 'histogram', help, labels, buckets, ...options };
}
