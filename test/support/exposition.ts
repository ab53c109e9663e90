/** Parses `/metrics` as Prometheus does and rejects what Prometheus would reject. */
export interface Family {
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;

/** @throws when the text violates the format, for example when a family is not grouped after its HELP and TYPE */
export function parseExposition(
  text: string,
  format: 'openmetrics' | 'prometheus' = 'prometheus',
): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const lines = text.split('\n').filter((line) => line !== '');
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('no # EOF');
  const families = new Map<string, { type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = '';
  for (const line of lines) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (!NAME.test(name) || families.has(name)) throw new Error(`family ${name}: ${line}`);
      families.set(name, { type: 'untyped', samples: [] });
      current = name;
      continue;
    }
    const family = families.get(current);
    if (family === undefined) throw new Error(`outside of a family: ${line}`);
    if (kind === 'TYPE') {
      if (name !== current || family.samples.length > 0) throw new Error(`misplaced: ${line}`);
      family.type = rest;
      continue;
    }
    const [, sample, labelText, value] = SAMPLE.exec(line) ?? [];
    if (sample === undefined) throw new Error(`no sample: ${line}`);
    if (!suffixes(family.type, format).some((suffix) => sample === current + suffix))
      throw new Error(`foreign: ${line}`);
    const key = line.slice(0, line.lastIndexOf(' '));
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    family.samples.push({ name: sample, labels: parseLabels(labelText ?? ''), value: parseValue(value ?? '') });
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family.samples);
  return families;
}

function suffixes(type: string, format: string): string[] {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'];
  if (type === 'counter' && format === 'openmetrics') return ['_total'];
  return [''];
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`labels: ${text}`);
    labels[name] = value;
  }
  return labels;
}

function parseValue(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  const value = Number(text === 'Nan' ? 'NaN' : text);
  if (text === '' || (Number.isNaN(value) && text.toLowerCase() !== 'nan')) throw new Error(`value: ${text}`);
  return value;
}

/** Bucket counts never decrease, and the last bucket holds all observations. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, of] of series) {
    const buckets = of.filter((sample) => sample.name === `${name}_bucket`);
    const values = buckets.map(({ value }) => value);
    const count = of.find((sample) => sample.name === `${name}_count`)?.value;
    const isRight =
      buckets.at(-1)?.labels['le'] === '+Inf' &&
      values.at(-1) === count &&
      values.every((value, index) => value >= (values[index - 1] ?? 0)) &&
      of.some((sample) => sample.name === `${name}_sum`);
    if (!isRight) throw new Error(`histogram ${name} ${key}`);
  }
}

/** Returns the sum of all samples in a family that have these labels. */
export function sumOf(
  families: ReadonlyMap<string, Family>,
  family: string,
  labels: Readonly<Record<string, string>> = {},
  sample = family,
): number {
  const found = (families.get(family)?.samples ?? []).filter(
    ({ name, labels: own }) => name === sample && Object.entries(labels).every(([key, value]) => own[key] === value),
  );
  return found.length === 0 ? Number.NaN : found.reduce((sum, { value }) => sum + value, 0);
}
