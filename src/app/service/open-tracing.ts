import type { Config } from '#config/config.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { ReceivedTraces, type Tracing } from '#platform/base/tracing.ts';
import { openPost, sourceOf } from './post-documents.ts';

interface OpenTracing {
  readonly tracing: Tracing;
  /** Exports pending spans, for a few seconds at most. */
  close(): Promise<void>;
}

interface TracingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** Starts tracing as configured. Without an exporter nothing is imported, recorded or sent. */
export async function openTracing(config: Config['telemetry']['tracing'], deps: TracingDeps): Promise<OpenTracing> {
  const { acceptParent, exporter, propagators, sampleRate } = config;
  if (exporter === 'none') {
    return { tracing: new ReceivedTraces(propagators.includes('tracecontext'), acceptParent), close: async () => {} };
  }
  const { openTracer } = await import('#platform/tracing/open-tracer.ts');
  const { clock, log, version } = deps;
  return openTracer({
    ...{ clock, log, propagators, parents: acceptParent, sampleRate, ...sourceOf(config, version) },
    post: openPost(exporter, config),
  });
}
