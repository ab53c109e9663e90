/**
 * Exports metrics under the names of another program, so that its dashboards and alerts keep working. Metrics that the
 * other program does not have keep their names.
 */
import type { MetricRename, MetricRenames, MetricRow, MetricRows } from '#platform/base/metric-kinds.ts';
import type { MetricValues } from './registry.ts';

type Reported = MetricValues[number];
type Point = Reported['values'][number];
type Labels = Point['labels'];

/** Text: periods become `_`, counters end with `_total`, and histograms with their unit, as OpenTelemetry converts. */
type Form = 'instruments' | 'text';

const MS_PER_SECOND = 1000;

export class RenamedMetrics {
  /** Metrics to collect: label values as reported, because the other program may tell more of them apart. */
  readonly collected: MetricRows;
  /** Metrics as exported to a collector. */
  readonly instruments: MetricRows;
  readonly #renames: MetricRenames;

  constructor(table: MetricRows, renames: MetricRenames) {
    this.#renames = renames;
    this.collected = Object.fromEntries(
      Object.entries(table).map(([name, row]) => [name, name in renames ? exactRow(row, renames[name]) : row]),
    );
    const renamed = Object.entries(renames).map(([from, { name, unit }]): [string, MetricRow] => {
      const row = table[from];
      if (row === undefined) throw new Error(`unknown metric ${from}`);
      return [name, { ...row, instrument: { unit, isSum: true } }];
    });
    this.instruments = { ...table, ...Object.fromEntries(renamed) };
  }

  /** Renames the values of one process. */
  rename(values: MetricValues, form: Form): MetricValues {
    return values.flatMap((metric) => {
      const rename = this.#renames[metric.name];
      if (rename === undefined) return [metric];
      if (form === 'instruments' && rename.isTextOnly === true) return [metric];
      const renamed = renamedMetric(metric, rename, form);
      return rename.isAdditional === true ? [metric, renamed] : [renamed];
    });
  }
}

function exactRow({ coarse: _, ...row }: MetricRow, rename: MetricRename | undefined): MetricRow {
  return rename?.known === undefined ? row : { ...row, known: rename.known };
}

function renamedMetric(metric: Reported, rename: MetricRename, form: Form): Reported {
  const type = String(metric.type);
  const name = form === 'instruments' ? rename.name : textName(rename, type);
  const factor = type === 'histogram' ? MS_PER_SECOND : 1;
  const points = new Map<string, Point>();
  for (const point of metric.values) {
    const { le, ...labels } = point.labels;
    const given = rename.labels(stringLabels(labels));
    if (given === undefined) continue;
    const part = 'metricName' in point ? String(point.metricName).slice(metric.name.length) : '';
    const changed: Labels = form === 'instruments' ? given : textLabels(given);
    const bound: Labels = le === undefined ? {} : { le: typeof le === 'number' ? scaled(le, factor) : le };
    const value = part === '_sum' ? point.value * factor : point.value;
    const key = JSON.stringify([part, Object.entries(changed).sort(), bound]);
    // Series that differ only in labels that the other program does not have.
    const sum = (points.get(key)?.value ?? 0) + value;
    const renamed = { ...point, labels: { ...changed, ...bound }, value: sum };
    points.set(key, part === '' ? renamed : { ...renamed, ...{ metricName: name + part } });
  }
  return { ...metric, name, values: [...points.values()] };
}

function stringLabels(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
}

function textName({ name, unit }: MetricRename, type: string): string {
  const suffix = type === 'counter' ? '_total' : unit === 'ms' ? '_milliseconds' : '';
  return name.replaceAll('.', '_') + suffix;
}

function textLabels(labels: Readonly<Record<string, string>>): Labels {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label.replaceAll('.', '_'), value]));
}

/** Without the error of binary fractions. */
function scaled(bound: number, factor: number): number {
  return Number((bound * factor).toFixed(6));
}
