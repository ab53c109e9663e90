/**
 * Where the program says what it counts. What is measured is the process, so there is one place for all of it, as for
 * the tasks; while no metrics are wanted it is undefined, and a report costs one comparison:
 *
 *     metrics?.count('latchkey_rate_limited_total', { limiter });
 *
 * See decision 0028.
 */
import type { METRICS, MetricName } from './metric-table.ts';

type NameOf<Kind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;

/** A value for each label of the metric. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['labels'][number], string>>;

export interface Metrics {
  /** @param amount 1 unless given; with 0 the series is shown from then on */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
}

export let metrics: Metrics | undefined;

/** Sends all reports there from now on; undefined: nowhere. */
export function reportTo(sink: Metrics | undefined): void {
  metrics = sink;
}

export type MetricsFormat = 'openmetrics' | 'prometheus';

/** All values as one text, those of the other processes of this instance included. */
export interface MetricsPage {
  render(format: MetricsFormat): Promise<{ readonly type: string; readonly text: string }>;
}
