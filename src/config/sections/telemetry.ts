import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { mapping } from '#platform/config/values.ts';
import { metricsConfig, metricsSection } from './metrics.ts';
import { sentryConfig, sentrySection } from './sentry.ts';
import { tracingConfig, tracingSection } from './tracing.ts';

export const telemetrySection = mapping({
  metrics: metricsSection
    .prefault({})
    .describe('Numbers about requests, the database, sign-ins, background work and the process.'),
  sentry: sentrySection
    .prefault({})
    .describe('Reports of failures that never should happen, to Sentry or what speaks its protocol.'),
  tracing: tracingSection.prefault({}).describe('Spans of requests, jobs and what they wait for.'),
});

/** @param environment OpenTelemetry variables */
export function telemetryConfig(parsed: z.output<typeof telemetrySection>, environment: Environment) {
  return {
    metrics: metricsConfig(parsed.metrics, environment),
    sentry: sentryConfig(parsed.sentry, environment),
    tracing: tracingConfig(parsed.tracing, environment),
  };
}
