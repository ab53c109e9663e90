import type { z } from 'zod';
import { bool, duration, mapping } from '#platform/config/values.ts';
import type { HttpConfig } from './http.ts';

export const adminAreaSection = mapping({
  enabled: bool().prefault(true).describe('Serves the admin area on the listeners with the resource `adminarea`.'),
  max_age: duration('5m', '12h')
    .prefault('30m')
    .describe(
      'Maximum age of a sign-in for the admin area; after that, administrators must confirm their identity, also ' +
        'while they work.',
    ),
  require_second_factor: bool()
    .prefault(false)
    .describe('Administrators without a second factor must set one up first. Those who have one always use it.'),
});

export function adminAreaConfig(parsed: z.output<typeof adminAreaSection>) {
  return {
    enabled: parsed.enabled,
    maxAgeSeconds: parsed.max_age,
    requiresSecondFactor: parsed.require_second_factor,
  };
}

/** Returns the URL of the admin area; undefined if it is disabled or no listener serves it. */
export function adminAreaAddress({
  adminArea,
  http,
}: {
  readonly adminArea: Pick<ReturnType<typeof adminAreaConfig>, 'enabled'>;
  readonly http: Pick<HttpConfig, 'listeners' | 'publicBase'>;
}): string | undefined {
  const isServed = http.listeners.some(({ resources }) => resources.some(({ name }) => name === 'adminarea'));
  return adminArea.enabled && isServed ? `${http.publicBase.replace(/\/$/, '')}/admin/` : undefined;
}
