import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { hint } from '#platform/config/shape.ts';
import { choice, mapping } from '#platform/config/values.ts';
import { otlpEndpoint, otlpTarget } from './otlp.ts';

const DEFAULT_INTERVAL_MS = 60_000;

export const metricsSection = mapping({
  exporter: choice(['none', 'stdout', 'otlp', 'prometheus'])
    .prefault('none')
    .describe(
      'Metrics exporter. `prometheus`: `/metrics` on listeners with the resource `prometheus`; `otlp`: ' +
        'pushes to a collector, as JSON over HTTP, every `OTEL_METRIC_EXPORT_INTERVAL` milliseconds ' +
        '(60,000); `stdout`: prints the same documents, one per line.',
    ),
  endpoint: otlpEndpoint('metrics'),
  names: hint(choice(['latchkey', 'mas']), { defaultText: '`latchkey`; `mas` with a configuration file of MAS' })
    .prefault('latchkey')
    .describe(
      '`mas`: metrics that Matrix Authentication Service has too are exported with its names, labels and units. ' +
        'The others keep their names.',
    ),
});

/** @param environment OpenTelemetry variables, used for what the section does not set */
export function metricsConfig(parsed: z.output<typeof metricsSection>, environment: Environment) {
  return {
    exporter: parsed.exporter,
    names: parsed.names,
    intervalMs: Number(environment['OTEL_METRIC_EXPORT_INTERVAL'] || DEFAULT_INTERVAL_MS),
    ...otlpTarget('metrics', parsed.endpoint, environment),
  };
}
