import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { choice, mapping } from '#platform/config/values.ts';
import { otlpEndpoint, otlpTarget } from './otlp.ts';

const DEFAULT_INTERVAL_MS = 60_000;

export const metricsSection = mapping({
  exporter: choice(['none', 'stdout', 'otlp', 'prometheus'])
    .prefault('none')
    .describe(
      'How metrics leave the service. `prometheus`: `/metrics` of listeners with the resource `prometheus`; `otlp`: to a ' +
        'collector, by HTTP with JSON, every `OTEL_METRIC_EXPORT_INTERVAL` milliseconds (60,000); `stdout`: the same ' +
        'documents, one on a line.',
    ),
  endpoint: otlpEndpoint('metrics'),
});

/** @param environment OpenTelemetry variables, used for what the section does not set */
export function metricsConfig(parsed: z.output<typeof metricsSection>, environment: Environment) {
  return {
    exporter: parsed.exporter,
    intervalMs: Number(environment['OTEL_METRIC_EXPORT_INTERVAL'] || DEFAULT_INTERVAL_MS),
    ...otlpTarget('metrics', parsed.endpoint, environment),
  };
}
