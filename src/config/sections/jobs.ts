import type { z } from 'zod';
import { duration, integer, mapping } from '#platform/config/values.ts';

export const jobsSection = mapping({
  concurrency: integer(1, 100).prefault(10).describe('Jobs that a process runs at once.'),
  poll_interval: duration('100ms', '1m').prefault('1s').describe('How often a process looks for jobs that are due.'),
  max_attempts: integer(1, 20)
    .prefault(10)
    .describe('Retries of a job that fails; the first after 5 s, each further one after twice the time.'),
});

export function jobsConfig(parsed: z.output<typeof jobsSection>) {
  return {
    concurrency: parsed.concurrency,
    pollIntervalSeconds: parsed.poll_interval,
    maxRetries: parsed.max_attempts,
  };
}
