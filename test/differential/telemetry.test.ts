/** Holds the OTLP/JSON of `src/platform/tracing` and `src/platform/metrics` against the OpenTelemetry transformer. */
import { JsonMetricsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, test } from 'vitest';
import type { OtlpAttributes } from '#platform/base/otlp.ts';
import type { SpanKind } from '#platform/base/spans.ts';
import { metricsJson } from '#platform/metrics/otlp-json.ts';
import type { MetricValues } from '#platform/metrics/registry.ts';
import { tracesJson } from '#platform/tracing/otlp-json.ts';
import type { Span } from '#platform/tracing/tracer.ts';
import { compare, REJECTED } from './compare.ts';

const SOURCE = { version: '1.2.3', resource: { 'service.name': 'latchkey', 'process.pid': 42 } };
const SCOPE = { name: 'latchkey', version: SOURCE.version };

/**
 * Removes how the two spell the same message of Protocol Buffers: whole numbers may be numbers or strings, defaults
 * may be left out. We omit the optional flags (OTLP 1.1), which tell whether a parent is remote.
 */
function canonical(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(canonical);
  if (typeof document !== 'object' || document === null) return document;
  const members = Object.entries(document).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'bucketCounts' && Array.isArray(value)) return [[name, value.map(String)]];
    if (name === 'count' || name === 'intValue') return [[name, String(value)]];
    const isDefault = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    const isOptional = name === 'flags' || (name.startsWith('dropped') && value === 0);
    const isUnset = name === 'status' && JSON.stringify(value) === '{"code":0}';
    // A text or measurement is a choice, present even if it is the default.
    return (isDefault && name !== 'stringValue') || isOptional || isUnset ? [] : [[name, canonical(value)]];
  });
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function canonicalText(text: string | Uint8Array | undefined): unknown {
  return text === undefined ? REJECTED : canonical(JSON.parse(Buffer.from(text).toString()));
}

const attributes: fc.Arbitrary<OtlpAttributes> = fc.dictionary(
  fc.constantFrom('http.route', 'db.query.summary', 'url.path', 'latchkey.listener'),
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  ),
  { maxKeys: 4 },
);
const hex = (length: 16 | 32) =>
  fc.nat(0xffffffff).map((number) =>
    number
      .toString(16)
      .padStart(8, '0')
      .repeat(length / 8),
  );
/** Microseconds. */
const times = fc.integer({ min: 1, max: 4_000_000_000_000_000 });
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2, consumer: 4 };
const links = fc.record({ traceId: hex(32), spanId: hex(16), isSampled: fc.boolean() });
const spans: fc.Arbitrary<Span> = fc.record({
  traceId: hex(32),
  id: hex(16),
  parentId: fc.option(hex(16), { nil: undefined }),
  link: fc.option(links, { nil: undefined }),
  name: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  kind: fc.constantFrom<SpanKind>('internal', 'server', 'client', 'consumer'),
  startedAt: times,
  endedAt: times,
  attributes,
  failure: fc.option(fc.constantFrom('500', 'ECONNREFUSED'), { nil: undefined }),
});

/** Seconds and nanoseconds. */
function hrTime(micros: number): [number, number] {
  return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
}

const RESOURCE = { attributes: SOURCE.resource, merge: () => RESOURCE, getRawAttributes: () => [] };

function ofLibrary(span: Span): Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number] {
  const context = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: 1 });
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context(span.traceId, span.id),
    ...(span.parentId !== undefined && { parentSpanContext: context(span.traceId, span.parentId) }),
    startTime: hrTime(span.startedAt),
    endTime: hrTime(span.endedAt),
    status: { code: span.failure === undefined ? 0 : 2 },
    attributes: { ...span.attributes, ...(span.failure !== undefined && { 'error.type': span.failure }) },
    links: span.link === undefined ? [] : [{ context: context(span.link.traceId, span.link.spanId) }],
    events: [],
    duration: [0, 0],
    ended: true,
    resource: RESOURCE,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

interface Observations {
  readonly routes: readonly string[];
  readonly seconds: readonly number[];
  /** Milliseconds. */
  readonly now: number;
}

/** `ValueType` of the OpenTelemetry API. */
const DOUBLE = 1;
const BOUNDS = [0.1, 1, 10];

async function valuesOf({ routes, seconds }: Observations): Promise<MetricValues> {
  const registers = [new Registry()];
  const counter = new Counter({ name: 'latchkey_tests_total', help: 'tests', labelNames: ['route'], registers });
  const histogram = new Histogram({
    name: 'latchkey_test_duration_seconds',
    help: 'time',
    labelNames: ['route'],
    buckets: BOUNDS,
    registers,
  });
  const gauge = new Gauge({ name: 'latchkey_test_bytes', help: 'size', labelNames: ['route'], registers });
  for (const route of routes) {
    counter.inc({ route });
    gauge.set({ route }, seconds.length);
    for (const time of seconds) histogram.observe({ route }, time);
  }
  return (await Promise.all(registers.map((registry) => registry.getMetricsAsJSON()))).flat();
}

/** What the SDK collects for the same observations. */
function metricsOf({
  routes,
  seconds,
  now,
}: Observations): Parameters<typeof JsonMetricsSerializer.serializeRequest>[0] {
  const names = [...new Set(routes)];
  const times = { startTime: hrTime(1000), endTime: hrTime(now * 1000) };
  const repeated = (name: string) => routes.filter((route) => route === name).length;
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const points = <Value>(measured: (name: string) => Value) =>
    names.map((route) => ({ ...times, attributes: { route }, value: measured(route) }));
  const described = (name: string, description: string, unit: string) => ({
    descriptor: { name, description, unit, valueType: DOUBLE },
    aggregationTemporality,
  });
  const counts = [...BOUNDS, Number.POSITIVE_INFINITY].map(
    (bound, index) => seconds.filter((time) => time <= bound && time > (BOUNDS[index - 1] ?? -1)).length,
  );
  const metrics: MetricData[] =
    names.length === 0
      ? []
      : [
          {
            ...described('latchkey.tests', 'tests', ''),
            dataPointType: DataPointType.SUM,
            isMonotonic: true,
            dataPoints: points(repeated),
          },
          ...(seconds.length === 0
            ? []
            : [
                {
                  ...described('latchkey.test_duration', 'time', 's'),
                  dataPointType: DataPointType.HISTOGRAM as const,
                  dataPoints: points((name) => {
                    const all = Array<readonly number[]>(repeated(name)).fill(seconds).flat();
                    return {
                      buckets: { boundaries: BOUNDS, counts: counts.map((count) => count * repeated(name)) },
                      count: all.length,
                      sum: all.reduce((sum, time) => sum + time, 0),
                    };
                  }),
                } satisfies MetricData,
              ]),
          {
            ...described('latchkey.test', 'size', 'By'),
            dataPointType: DataPointType.GAUGE,
            dataPoints: points(() => seconds.length),
          },
        ];
  return { resource: RESOURCE, scopeMetrics: [{ scope: SCOPE, metrics }] };
}

describe('OTLP/JSON as the OpenTelemetry transformer', () => {
  test('spans', async () => {
    await compare<Span, unknown>({
      inputs: spans,
      count: 2_000,
      ours: (span) => canonicalText(tracesJson(SOURCE, [span])),
      library: (span) => canonicalText(JsonTraceSerializer.serializeRequest([ofLibrary(span)])),
      decisions: {},
    });
  });

  test('metrics', async () => {
    await compare<Observations, unknown>({
      inputs: fc.record({
        routes: fc.array(fc.constantFrom('/', '/token', 'other'), { maxLength: 3 }),
        seconds: fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 12 }),
        now: fc.integer({ min: 1, max: 4_000_000_000_000 }),
      }),
      count: 1_000,
      ours: async (observations) =>
        canonicalText(metricsJson(SOURCE, {}, await valuesOf(observations), { startedAt: 1, now: observations.now })),
      library: (observations) => canonicalText(JsonMetricsSerializer.serializeRequest(metricsOf(observations))),
      decisions: {},
    });
  });
});
