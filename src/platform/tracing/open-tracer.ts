/** The exporters of spans. Loaded only where one is configured. */
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { openSink } from '#platform/log/descriptor-sink.ts';
import { Batches, type BatchesOptions } from './batches.ts';
import { type SpanSource, tracesJson } from './otlp-json.ts';
import type { Propagator } from './propagation.ts';
import { Tracer } from './tracer.ts';

export interface ExportOptions extends SpanSource {
  readonly clock: Clock;
  readonly log: Log;
  readonly propagators: readonly Propagator[];
  readonly sampleRate: number;
  /** Takes a document to the collector; undefined: they are written to standard output, one on a line. */
  readonly post: ((document: string, signal: AbortSignal) => ReturnType<BatchesOptions['send']>) | undefined;
}

export interface OpenTracer {
  readonly tracing: Tracer;
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>;
}

export function openTracer({ post, clock, log, propagators, sampleRate, ...source }: ExportOptions): OpenTracer {
  const send = post ?? writeToStdout();
  const sink = new Batches({ log, send: (spans, signal) => send(tracesJson(source, spans), signal) });
  const tracing = new Tracer({ clock, propagators, sampleRate, sink });
  return { tracing, close: () => sink.close() };
}

function writeToStdout(): NonNullable<ExportOptions['post']> {
  const sink = openSink('stdout');
  return async (document) => {
    sink.write(`${document}\n`);
    await sink.flush();
    return { status: 200 };
  };
}
