/** OpenTelemetry collectors, from the configuration and the OpenTelemetry environment variables. */
import { Secret } from '#platform/base/secret.ts';
import type { Environment } from '#platform/config/dot-env.ts';
import { hint } from '#platform/config/shape.ts';
import { webUrl } from '#platform/config/values.ts';

const DEFAULT_BASE = 'http://localhost:4318';
const DEFAULT_TIMEOUT_MS = 10_000;

type Signal = 'metrics' | 'traces';

/** Where the documents of one signal are sent, and the resource attributes they carry. */
export interface OtlpTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
}

/** The setting for a collector's URL. */
export function otlpEndpoint(signal: Signal) {
  const own = variableName(signal, 'ENDPOINT');
  return hint(webUrl({ allowQuery: false }), {
    defaultText: `\`${own}\`, else \`OTEL_EXPORTER_OTLP_ENDPOINT\`, else \`${DEFAULT_BASE}\``,
  })
    .optional()
    .describe(`URL of the collector. \`/v1/${signal}\` is appended if it has no path.`);
}

/**
 * @param endpoint the configured value
 * @param environment OpenTelemetry variables, used for what is not configured
 */
export function otlpTarget(signal: Signal, endpoint: string | undefined, environment: Environment): OtlpTarget {
  const read = (name: string): string | undefined =>
    environment[variableName(signal, name)] || environment[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  return {
    endpoint: endpoint === undefined ? endpointOf(signal, environment) : withPath(signal, endpoint),
    headers: headersOf(read('HEADERS') ?? ''),
    timeoutMs: Number(read('TIMEOUT') ?? DEFAULT_TIMEOUT_MS),
    resource: resourceOf(environment),
  };
}

/** The signal-specific variable takes precedence over the general one. */
function variableName(signal: Signal, name: string): string {
  return `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`;
}

function endpointOf(signal: Signal, environment: Environment): string {
  const whole = environment[variableName(signal, 'ENDPOINT')] || undefined;
  if (whole !== undefined) return whole;
  const base = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || DEFAULT_BASE;
  return `${base.replace(/\/*$/, '')}/v1/${signal}`;
}

function withPath(signal: Signal, endpoint: string): string {
  return new URL(endpoint).pathname === '/' ? new URL(`v1/${signal}`, endpoint).href : endpoint;
}

function headersOf(text: string): Readonly<Record<string, Secret>> {
  return Object.fromEntries(pairsOf(text).map(([name, value]) => [name.toLowerCase(), new Secret(value)]));
}

function resourceOf(environment: Environment): Readonly<Record<string, string>> {
  const attributes = Object.fromEntries(pairsOf(environment['OTEL_RESOURCE_ATTRIBUTES'] ?? ''));
  const name = environment['OTEL_SERVICE_NAME'] || attributes['service.name'] || 'latchkey';
  return { ...attributes, 'service.name': name };
}

/** Parses `name=value,name=value` with percent-encoded values, the format of all OpenTelemetry list variables. */
function pairsOf(text: string): [name: string, value: string][] {
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
