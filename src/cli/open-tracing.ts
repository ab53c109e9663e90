import { hostname } from 'node:os';
import type { Config } from '#config/config.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { ReceivedTraces, type Tracing } from '#platform/base/tracing.ts';
import { exchange } from '#platform/outbound-http/exchange.ts';

interface OpenTracing {
  readonly tracing: Tracing;
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>;
}

interface TracingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** Tracing as configured. Without an exporter nothing is loaded, recorded or sent. */
export async function openTracing(config: Config['telemetry']['tracing'], deps: TracingDeps): Promise<OpenTracing> {
  const { exporter, propagators, resource, sampleRate } = config;
  if (exporter === 'none') {
    return { tracing: new ReceivedTraces(propagators.includes('tracecontext')), close: async () => {} };
  }
  const { openTracer } = await import('#platform/tracing/open-tracer.ts');
  const { version } = deps;
  return openTracer({
    ...{ ...deps, propagators, sampleRate },
    resource: { 'service.version': version, 'service.instance.id': `${hostname()}:${process.pid}`, ...resource },
    post: exporter === 'otlp' ? postTo(config) : undefined,
  });
}

function postTo({ endpoint, headers, timeoutMs }: Config['telemetry']['tracing']) {
  const url = new URL(endpoint);
  const own = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
  const all = { ...Object.fromEntries(own), 'content-type': 'application/json' };
  return async (body: string, signal: AbortSignal) => {
    const answer = await exchange(url, {
      ...{ server: 'otlp', method: 'POST', headers: all, body, needsBody: true },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...{ lookup: undefined, trustedCertificates: undefined },
    });
    const retryAfter = Number(answer.headers['retry-after']);
    return { status: answer.status, retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined };
  };
}
