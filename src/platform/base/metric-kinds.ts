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
  /** Simplifies values of labels when they are counted. */
  readonly coarse?: Readonly<Record<string, (value: string) => string>>;
  /** Set if name and labels are those of an OpenTelemetry instrument already. */
  readonly instrument?: { readonly unit: string; readonly isSum: boolean };
}

export type MetricRow = Metric<'counter' | 'gauge' | 'histogram', string>;

/** Metrics by name. */
export type MetricRows = Readonly<Record<string, MetricRow>>;

/** How a metric is exported under the name of another program. */
export interface MetricRename {
  /** Name of the instrument, with periods. */
  readonly name: string;
  /** Declared unit: the values of all histograms are milliseconds, whether declared or not. */
  readonly unit: '' | 'ms';
  /** What is counted, and what differs. */
  readonly help: string;
  /** Returns the labels of a series. Series with the same labels are added up. Undefined leaves the series out. */
  labels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined;
  /** Values of the metric's own labels, exported with 0 from the start, where they are finer than usual. */
  readonly known?: Readonly<Record<string, readonly string[]>>;
  /** The metric keeps its own name as well. */
  readonly isAdditional?: boolean;
  /** Not exported to collectors. */
  readonly isTextOnly?: boolean;
}

/** By own name. */
export type MetricRenames = Readonly<Record<string, MetricRename>>;

type Options<Kind extends 'counter' | 'gauge' | 'histogram'> = Pick<
  Metric<Kind, string>,
  'across' | 'coarse' | 'openTelemetry'
>;

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
