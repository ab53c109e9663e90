/** Sends OTLP documents to a collector, or to standard output, one per line. */
import { hostname } from 'node:os';
import type { OtlpTarget } from '#config/sections/otlp.ts';
import type { OtlpSource, PostDocument } from '#platform/base/otlp.ts';
import { openSink } from '#platform/log/descriptor-sink.ts';
import { exchange } from '#platform/outbound-http/exchange.ts';

export function openPost(exporter: 'otlp' | 'stdout', target: OtlpTarget): PostDocument {
  return exporter === 'otlp' ? postTo(target) : writeToStdout();
}

/** @param version of this program */
export function sourceOf({ resource }: OtlpTarget, version: string): OtlpSource {
  return {
    version,
    resource: { 'service.version': version, 'service.instance.id': `${hostname()}:${process.pid}`, ...resource },
  };
}

function postTo({ endpoint, headers, timeoutMs }: OtlpTarget): PostDocument {
  const url = new URL(endpoint);
  const own = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
  const all = { ...Object.fromEntries(own), 'content-type': 'application/json' };
  return async (body, signal) => {
    const response = await exchange(url, {
      ...{ server: 'otlp', method: 'POST', headers: all, body, needsBody: true },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...{ lookup: undefined, trustedCertificates: undefined },
    });
    const retryAfter = Number(response.headers['retry-after']);
    return { status: response.status, retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined };
  };
}

function writeToStdout(): PostDocument {
  const sink = openSink('stdout');
  return async (document) => {
    sink.write(`${document}\n`);
    await sink.flush();
    return { status: 200 };
  };
}
