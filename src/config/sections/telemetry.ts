import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { mapping } from '#platform/config/values.ts';
import { metricsConfig, metricsSection } from './metrics.ts';
import { sentryConfig, sentrySection } from './sentry.ts';
import { tracingConfig, tracingSection } from './tracing.ts';

export const telemetrySection = mapping({
  metrics: metricsSection
    .prefault({})
    .describe('Metrics of requests, the database, sign-ins, background jobs and the process.'),
  sentry: sentrySection.prefault({}).describe('Error reports to Sentry or a compatible service.'),
  tracing: tracingSection.prefault({}).describe('Traces of requests, jobs and their dependencies.'),
});

/** @param environment OpenTelemetry variables */
export function telemetryConfig(parsed: z.output<typeof telemetrySection>, environment: Environment) {
  return {
    metrics: metricsConfig(parsed.metrics, environment),
    sentry: sentryConfig(parsed.sentry, environment),
    tracing: tracingConfig(parsed.tracing, environment),
  };
}
