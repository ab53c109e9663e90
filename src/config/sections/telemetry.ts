import type { z } from 'zod';
import { choice, mapping } from '#platform/config/values.ts';

export const telemetrySection = mapping({
  metrics: mapping({
    exporter: choice(['none', 'prometheus'])
      .prefault('none')
      .describe('How metrics leave the service. `prometheus`: `/metrics` of listeners with the resource `prometheus`.'),
  })
    .prefault({})
    .describe('Numbers about requests, the database, sign-ins, background work and the process.'),
});

export function telemetryConfig(parsed: z.output<typeof telemetrySection>) {
  return { metrics: { exporter: parsed.metrics.exporter } };
}
