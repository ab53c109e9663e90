/**
 * Spans in the JSON encoding of the OpenTelemetry protocol, as collectors take it at `/v1/traces` and as their file
 * exporter writes it.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import type { SpanAttributes, SpanKind } from '#platform/base/spans.ts';
import type { Span } from './tracer.ts';

const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, consumer: 5 };
const ERROR_STATUS = 2;

/** Who the spans are of. */
export interface SpanSource {
  readonly version: string;
  /** `service.name` and more about the process. */
  readonly resource: SpanAttributes;
}

export function tracesJson({ version, resource }: SpanSource, spans: readonly Span[]): string {
  const scopeSpans = [{ scope: { name: 'latchkey', version }, spans: spans.map(encodeSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: encodeAttributes(resource) }, scopeSpans }] });
}

function encodeSpan(span: Span) {
  const { traceId, id, parentId, link, name, kind, startedAt, endedAt, attributes, failure } = span;
  return {
    traceId,
    spanId: id,
    parentSpanId: parentId,
    name,
    kind: KINDS[kind],
    // Microseconds, since a number has no room for nanoseconds.
    startTimeUnixNano: `${startedAt}000`,
    endTimeUnixNano: `${endedAt}000`,
    attributes: encodeAttributes(failure === undefined ? attributes : { ...attributes, 'error.type': failure }),
    ...(link !== undefined && { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
    ...(failure !== undefined && { status: { code: ERROR_STATUS } }),
  };
}

function encodeAttributes(attributes: SpanAttributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: string | number) {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
