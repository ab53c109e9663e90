/**
 * Holds the metric values of this process with prom-client, which only this file loads. Combines the values of several
 * processes into one page.
 */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
  type RegistryContentType,
} from 'prom-client';
import type { MetricRow, MetricRows } from '#platform/base/metric-kinds.ts';
import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  Metrics,
  MetricsFormat,
} from '#platform/base/metrics.ts';
import { outside } from '#platform/base/tasks.ts';

/** The values of one process, in a form that can be sent to another. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Sets gauges to their current values. */
export type Gauges = (
  set: <Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number) => void,
) => Promise<void>;

type SharedOptions = Pick<GaugeConfiguration<string>, 'aggregator' | 'help' | 'labelNames' | 'name' | 'registers'>;

const GC_BUCKETS = [0.001, 0.01, 0.1, 1];

export class MetricsRegistry implements Metrics {
  readonly table: MetricRows;
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #readers: Gauges[] = [];

  /** @param table every metric that is reported */
  constructor(table: MetricRows) {
    this.table = table;
    for (const [name, metric] of Object.entries(table)) this.#add(name, metric);
    collectDefaultMetrics({ register: this.#registry, gcDurationBuckets: GC_BUCKETS });
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount = 1): void {
    this.#counters.get(name)?.inc(this.#coarse(name, labels), amount);
  }

  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    this.#histograms.get(name)?.observe(this.#coarse(name, labels), seconds);
  }

  #coarse(name: string, labels: Readonly<Record<string, string>>): Record<string, string> {
    const coarse = this.table[name]?.coarse;
    if (coarse === undefined) return labels;
    return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, coarse[label]?.(value) ?? value]));
  }

  /** Registers a function that reads gauges whenever the values are requested. */
  readGauges(read: Gauges): void {
    this.#readers.push(read);
  }

  async values(): Promise<MetricValues> {
    for (const gauge of this.#gauges.values()) gauge.reset();
    const set: Parameters<Gauges>[0] = (name, labels, value) => this.#gauges.get(name)?.set(labels, value);
    await Promise.all(this.#readers.map((read) => read(set)));
    return await outside(this.#registry.getMetricsAsJSON());
  }

  #add(name: string, metric: MetricRow): void {
    const { help, labels: labelNames, across = 'sum' } = metric;
    const options: SharedOptions = {
      name,
      help,
      labelNames: [...labelNames],
      aggregator: across,
      registers: [this.#registry],
    };
    if (metric.kind === 'gauge') this.#gauges.set(name, new Gauge(options));
    else if (metric.kind === 'histogram')
      this.#histograms.set(name, new Histogram({ ...options, buckets: [...(metric.buckets ?? [])] }));
    else {
      const made = new Counter(options);
      this.#counters.set(name, made);
      for (const labels of combinations(labelNames, metric.known)) made.inc(labels, 0);
    }
  }
}

/** Renders the values of all processes as one page. */
export async function renderMetrics(
  processes: readonly MetricValues[],
  format: MetricsFormat,
): Promise<{ readonly type: string; readonly text: string }> {
  const type = format === 'openmetrics' ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const named = format === 'openmetrics' ? processes.map((values) => values.map(withFamilyName)) : [...processes];
  const all = AggregatorRegistry.aggregate<RegistryContentType>(named);
  all.setContentType(type);
  return { type, text: await outside(all.metrics()) };
}

/** OpenMetrics names a counter without the suffix of its samples, which the library adds. */
function withFamilyName(metric: MetricValues[number]): MetricValues[number] {
  return isCounter(metric) ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric;
}

/** The library uses strings such as `counter`, but its types declare a number. */
function isCounter({ type }: MetricValues[number]): boolean {
  return String(type) === 'counter';
}

/** Returns every combination of the known label values. Empty if they are unknown. */
function combinations(
  labels: readonly string[],
  known: Readonly<Record<string, readonly string[]>> | undefined,
): Record<string, string>[] {
  if (labels.length > 0 && known === undefined) return [];
  let made: Record<string, string>[] = [{}];
  for (const label of labels) {
    made = made.flatMap((some) => (known?.[label] ?? []).map((value) => ({ ...some, [label]: value })));
  }
  return made;
}
