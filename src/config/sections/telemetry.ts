import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { choice, mapping } from '#platform/config/values.ts';
import { tracingConfig, tracingSection } from './tracing.ts';

export const telemetrySection = mapping({
  metrics: mapping({
    exporter: choice(['none', 'prometheus'])
      .prefault('none')
      .describe('How metrics leave the service. `prometheus`: `/metrics` of listeners with the resource `prometheus`.'),
  })
    .prefault({})
    .describe('Numbers about requests, the database, sign-ins, background work and the process.'),
  tracing: tracingSection.prefault({}).describe('Spans of requests, jobs and what they wait for.'),
});

/** @param environment with the variables of OpenTelemetry */
export function telemetryConfig(parsed: z.output<typeof telemetrySection>, environment: Environment) {
  return {
    metrics: { exporter: parsed.metrics.exporter },
    tracing: tracingConfig(parsed.tracing, environment),
  };
}
