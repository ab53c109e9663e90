import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import type { Environment } from '#platform/config/dot-env.ts';
import { hint } from '#platform/config/shape.ts';
import { choice, list, mapping, portion, webUrl } from '#platform/config/values.ts';
import { PROPAGATORS } from '#platform/tracing/propagation.ts';

const DEFAULT_BASE = 'http://localhost:4318';
const TRACES_PATH = 'v1/traces';
const DEFAULT_TIMEOUT_MS = 10_000;

export const tracingSection = mapping({
  exporter: choice(['none', 'stdout', 'otlp'])
    .prefault('none')
    .describe(
      'Where spans go. `otlp`: to a collector, by HTTP with JSON; `stdout`: the same documents, one on a line. While it ' +
        'is not `none`, every line of the log names the trace of its request, sampled or not.',
    ),
  endpoint: hint(webUrl({ allowQuery: false }), {
    defaultText:
      '`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, else `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`',
  })
    .optional()
    .describe('Address of the collector. `/v1/traces` is added when it has no path.'),
  propagators: list(choice(PROPAGATORS))
    .prefault(['tracecontext'])
    .describe(
      'Headers by which traces come with requests and go on with calls to the homeserver and to sign-in providers: ' +
        '`traceparent` and `tracestate`, `baggage`, `uber-trace-id`. `[]`: every trace begins here, also in the log.',
    ),
  sample_rate: portion()
    .prefault(1)
    .describe(
      'Part of the traces that begin here and are exported. Of others their beginner decides, by `traceparent`.',
    ),
});

/** @param environment with the variables of OpenTelemetry, which say what the section does not */
export function tracingConfig(parsed: z.output<typeof tracingSection>, environment: Environment) {
  return {
    exporter: parsed.exporter,
    propagators: parsed.propagators,
    sampleRate: parsed.sample_rate,
    endpoint: parsed.endpoint === undefined ? endpointOf(environment) : withPath(parsed.endpoint),
    headers: headersOf(otlpVariable(environment, 'HEADERS') ?? ''),
    timeoutMs: Number(otlpVariable(environment, 'TIMEOUT') ?? DEFAULT_TIMEOUT_MS),
    resource: resourceOf(environment),
  };
}

/** What the variables for all of OTLP and for its traces say; the special one wins. */
function otlpVariable(environment: Environment, name: string): string | undefined {
  return environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
}

function endpointOf(environment: Environment): string {
  const whole = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined;
  if (whole !== undefined) return whole;
  const base = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || DEFAULT_BASE;
  return `${base.replace(/\/*$/, '')}/${TRACES_PATH}`;
}

function withPath(endpoint: string): string {
  return new URL(endpoint).pathname === '/' ? new URL(TRACES_PATH, endpoint).href : endpoint;
}

function headersOf(text: string): Readonly<Record<string, Secret>> {
  return Object.fromEntries(pairsOf(text).map(([name, value]) => [name.toLowerCase(), new Secret(value)]));
}

function resourceOf(environment: Environment): Readonly<Record<string, string>> {
  const attributes = Object.fromEntries(pairsOf(environment['OTEL_RESOURCE_ATTRIBUTES'] ?? ''));
  const name = environment['OTEL_SERVICE_NAME'] || attributes['service.name'] || 'latchkey';
  return { ...attributes, 'service.name': name };
}

/** `name=value,name=value` with percent-encoded values, as all variables of OpenTelemetry for several values are. */
export function pairsOf(text: string): [name: string, value: string][] {
  return text.split(',').flatMap((part): [string, string][] => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    return name === undefined || value === undefined ? [] : [[name, decoded(value)]];
  });
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
