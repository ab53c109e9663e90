/**
 * Entry point for reporting metrics. Metrics describe the process, so there is one sink for the whole process, as for
 * the tasks. It is undefined while metrics are disabled, and a report then costs one comparison:
 *
 *     metrics?.count('latchkey_rate_limited_total', { limiter });
 *
 * See decision 0028.
 */
import type { MetricName, MetricTable } from './metric-table.ts';

type NameOf<Kind> = {
  [Name in MetricName]: MetricTable[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;

/** One value for each label of the metric. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<MetricTable[Name]['labels'][number], string>>;

export interface Metrics {
  /** @param amount defaults to 1; 0 only creates the series */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
}

export let metrics: Metrics | undefined;

/** Sends all reports to this sink from now on, or discards them if undefined. */
export function reportTo(sink: Metrics | undefined): void {
  metrics = sink;
}

export type MetricsFormat = 'openmetrics' | 'prometheus';

/** Renders all values as one text, including those of the other processes of this instance. */
export interface MetricsPage {
  render(format: MetricsFormat): Promise<{ readonly type: string; readonly text: string }>;
}
