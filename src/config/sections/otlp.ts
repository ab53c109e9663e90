/** Collectors of OpenTelemetry as the configuration and the variables of OpenTelemetry name them. */
import { Secret } from '#platform/base/secret.ts';
import type { Environment } from '#platform/config/dot-env.ts';
import { hint } from '#platform/config/shape.ts';
import { webUrl } from '#platform/config/values.ts';

const DEFAULT_BASE = 'http://localhost:4318';
const DEFAULT_TIMEOUT_MS = 10_000;

type Signal = 'metrics' | 'traces';

/** Where documents of one signal go, and what they say of the service. */
export interface OtlpTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
}

/** The setting of a collector's address. */
export function otlpEndpoint(signal: Signal) {
  const own = variableName(signal, 'ENDPOINT');
  return hint(webUrl({ allowQuery: false }), {
    defaultText: `\`${own}\`, else \`OTEL_EXPORTER_OTLP_ENDPOINT\`, else \`${DEFAULT_BASE}\``,
  })
    .optional()
    .describe(`Address of the collector. \`/v1/${signal}\` is added when it has no path.`);
}

/** @param endpoint as it is set; @param environment with the variables of OpenTelemetry, which say what is not set */
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

/** The special one of a signal wins over the one for all. */
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

/** `name=value,name=value` with percent-encoded values, as all variables of OpenTelemetry for several values are. */
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
