/**
 * Encodes spans as OTLP/JSON, which collectors accept at `/v1/traces` and write with their file exporter.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import { encodeAttributes, encodeResource, encodeScope, type OtlpSource } from '#platform/base/otlp.ts';
import type { SpanKind } from '#platform/base/spans.ts';
import type { Span } from './tracer.ts';

const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, consumer: 5 };
const ERROR_STATUS = 2;

export function tracesJson(source: OtlpSource, spans: readonly Span[]): string {
  const scopeSpans = [{ scope: encodeScope(source), spans: spans.map(encodeSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: encodeResource(source), scopeSpans }] });
}

function encodeSpan(span: Span) {
  const { traceId, id, parentId, link, name, kind, startedAt, endedAt, attributes, failure } = span;
  return {
    traceId,
    spanId: id,
    parentSpanId: parentId,
    name,
    kind: KINDS[kind],
    // Derived from microseconds, since a number cannot hold nanoseconds.
    startTimeUnixNano: `${startedAt}000`,
    endTimeUnixNano: `${endedAt}000`,
    attributes: encodeAttributes(failure === undefined ? attributes : { ...attributes, 'error.type': failure }),
    ...(link !== undefined && { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
    ...(failure !== undefined && { status: { code: ERROR_STATUS } }),
  };
}
