/** Description of a metric. */
export interface Metric<Kind extends 'counter' | 'gauge' | 'histogram', Label extends string> {
  readonly kind: Kind;
  readonly help: string;
  readonly labels: readonly Label[];
  /** All possible values of each label, if they are fixed. Every combination is then exported with 0 from the start. */
  readonly known?: Readonly<Record<Label, readonly string[]>>;
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[];
  /** How values of several processes are combined. Defaults to the sum. */
  readonly across?: 'average' | 'first' | 'max' | 'min';
  /** Name in the OpenTelemetry semantic conventions, if they define one. */
  readonly openTelemetry?: string;
}

export type MetricRow = Metric<'counter' | 'gauge' | 'histogram', string>;

/** Metrics by name. */
export type MetricRows = Readonly<Record<string, MetricRow>>;

type Options<Kind extends 'counter' | 'gauge' | 'histogram'> = Pick<Metric<Kind, string>, 'across' | 'openTelemetry'>;

/** @param known all values of every label; undefined if they are only known at run time */
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
