/** The span exporter. Loaded only if one is configured. */
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { OtlpSource, PostDocument } from '#platform/base/otlp.ts';
import type { TraceParents } from '#platform/base/tracing.ts';
import { Batches } from './batches.ts';
import { tracesJson } from './otlp-json.ts';
import type { Propagator } from './propagation.ts';
import { Tracer } from './tracer.ts';

export interface ExportOptions extends OtlpSource {
  readonly clock: Clock;
  readonly log: Log;
  readonly propagators: readonly Propagator[];
  readonly sampleRate: number;
  readonly parents: TraceParents;
  readonly post: PostDocument;
}

export interface OpenTracer {
  readonly tracing: Tracer;
  /** Sends what is queued, for a few seconds at most. */
  close(): Promise<void>;
}

export function openTracer({
  post,
  clock,
  log,
  parents,
  propagators,
  sampleRate,
  ...source
}: ExportOptions): OpenTracer {
  const sink = new Batches({ log, send: (spans, signal) => post(tracesJson(source, spans), signal) });
  const tracing = new Tracer({ clock, parents, propagators, sampleRate, sink });
  return { tracing, close: () => sink.close() };
}
