/**
 * Encodes metrics as OTLP/JSON, which collectors accept at `/v1/metrics`. Names and labels follow the OpenTelemetry
 * semantic conventions where they exist. The other names are chosen so that OpenTelemetry's conversion to Prometheus
 * restores the names in the table.
 */
import type { MetricRow, MetricRows } from '#platform/base/metric-kinds.ts';
import { encodeAttributes, encodeResource, encodeScope, type OtlpSource } from '#platform/base/otlp.ts';
import type { MetricValues } from './registry.ts';

type Reported = MetricValues[number];
type Point = Reported['values'][number];

/** Cumulative since the process started. */
const CUMULATIVE = 2;

/** Metrics that prom-client names itself. */
const PROCESS_NAMES: ReadonlyMap<string, string> = new Map([
  ['process_cpu_seconds_total', 'process.cpu.time'],
  ['process_open_fds', 'process.unix.file_descriptor.count'],
  ['process_resident_memory_bytes', 'process.memory.usage'],
  ['process_virtual_memory_bytes', 'process.memory.virtual'],
]);

/** Attribute names for metrics that OpenTelemetry has a name for. */
const ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ['listener', 'latchkey.listener'],
  ['method', 'http.request.method'],
  ['name', 'db.query.summary'],
  ['route', 'http.route'],
  ['server', 'peer.service'],
  ['state', 'db.client.connection.state'],
  ['status', 'http.response.status_class'],
]);

/** Times in milliseconds since the epoch. */
interface Period {
  readonly startedAt: number;
  readonly now: number;
}

/** @param table of the reported metrics */
export function metricsJson(source: OtlpSource, table: MetricRows, values: MetricValues, period: Period): string {
  const metrics = values
    .map((metric) => encodeMetric(metric, table[metric.name], period))
    .filter((metric) => metric !== undefined);
  const scopeMetrics = [{ scope: encodeScope(source), metrics }];
  return JSON.stringify({ resourceMetrics: [{ resource: encodeResource(source), scopeMetrics }] });
}

/** @param row undefined for metrics of the process */
function encodeMetric(metric: Reported, row: MetricRow | undefined, period: Period) {
  const { instrument, openTelemetry: convention } = row ?? {};
  const { name, help: description } = metric;
  // The library uses strings such as `counter`, but its types declare a number.
  const type = String(metric.type);
  const attributes = (labels: Point['labels']) =>
    encodeAttributes(convention === undefined || instrument !== undefined ? labels : renamed(labels));
  const shared =
    instrument === undefined
      ? { name: convention ?? nameOf(name), description, unit: unitOf(name) }
      : { name, description, unit: instrument.unit };
  if (type === 'histogram') {
    const dataPoints = histogramPoints(metric, attributes, period);
    if (dataPoints.length === 0) return undefined;
    return { ...shared, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
  }
  const times = timesOf(period);
  // JSON cannot represent values that have not been measured yet.
  const dataPoints = metric.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ attributes: attributes(labels), ...times, asDouble: value }));
  if (dataPoints.length === 0) return undefined;
  const isMonotonic = type === 'counter';
  // Parts of a total, such as connections, are summed over processes.
  const isSum = isMonotonic || (instrument?.isSum ?? convention !== undefined);
  return isSum
    ? { ...shared, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic } }
    : { ...shared, gauge: { dataPoints } };
}

interface Histogram {
  readonly labels: Point['labels'];
  readonly bounds: number[];
  /** Cumulative count for each bound. */
  readonly counts: number[];
  sum: number;
  count: number;
}

function histogramPoints({ name, values }: Reported, attributes: (labels: Point['labels']) => unknown, period: Period) {
  const histograms = new Map<string, Histogram>();
  for (const point of values) {
    const { le, ...labels } = point.labels;
    const key = JSON.stringify(labels);
    const made = histograms.get(key) ?? { labels, bounds: [], counts: [], sum: 0, count: 0 };
    histograms.set(key, made);
    const part = 'metricName' in point ? point.metricName : undefined;
    if (part === `${name}_sum`) made.sum = point.value;
    else if (part === `${name}_count`) made.count = point.value;
    else if (typeof le === 'number') {
      made.bounds.push(le);
      made.counts.push(point.value);
    }
  }
  return [...histograms.values()].map(({ labels, bounds, counts, sum, count }) => ({
    attributes: attributes(labels),
    ...timesOf(period),
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: [...counts, count].map((upTo, index) => String(upTo - (counts[index - 1] ?? 0))),
  }));
}

function timesOf({ startedAt, now }: Period) {
  return { startTimeUnixNano: `${Math.round(startedAt)}000000`, timeUnixNano: `${Math.round(now)}000000` };
}

function nameOf(name: string): string {
  return PROCESS_NAMES.get(name) ?? name.replace(/(?:_seconds|_bytes)?(?:_total)?$/, '').replace('_', '.');
}

function unitOf(name: string): string {
  if (/_seconds(?:_total)?$/.test(name)) return 's';
  return name.endsWith('_bytes') ? 'By' : '';
}

/** Renames labels to attributes of the semantic conventions. */
function renamed(labels: Point['labels']): Point['labels'] {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [ATTRIBUTES.get(label) ?? label, value]));
}
