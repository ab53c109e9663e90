import type { z } from 'zod';
import { duration, integer, mapping } from '#platform/config/values.ts';

export const jobsSection = mapping({
  concurrency: integer(1, 100).prefault(10).describe('Number of jobs that a process runs concurrently.'),
  poll_interval: duration('100ms', '1m').prefault('1s').describe('Polling interval for due jobs.'),
  max_attempts: integer(1, 20)
    .prefault(10)
    .describe('Number of retries of a failed job. The first is after 5 s; the delay doubles each time.'),
});

export function jobsConfig(parsed: z.output<typeof jobsSection>) {
  return {
    concurrency: parsed.concurrency,
    pollIntervalSeconds: parsed.poll_interval,
    maxRetries: parsed.max_attempts,
  };
}
