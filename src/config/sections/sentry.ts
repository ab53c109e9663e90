import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import type { Environment } from '#platform/config/dot-env.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { mapping, portion, secret, secretFile, text } from '#platform/config/values.ts';
import { parseDsn } from '#platform/sentry/dsn.ts';

export const DSN_EXPECTED = 'the DSN of a Sentry project, https://KEY@HOST/PROJECT';

export const sentrySection = rule(
  mapping({
    dsn: hint(secret(), { defaultText: '`SENTRY_DSN`, else none' })
      .optional()
      .describe('DSN of the Sentry project, `https://KEY@HOST/PROJECT`.'),
    dsn_file: secretFile('dsn'),
    environment: text({ maximum: 64 }).prefault('production').describe('Environment name in reports.'),
    sample_rate: portion().prefault(1).describe('Fraction of errors that are reported.'),
    traces_sample_rate: portion()
      .prefault(0)
      .describe('Fraction of requests that are reported as a transaction, with their duration, statements and status.'),
  }),
  ['dsn'],
  ({ dsn }, problem) => {
    if (dsn !== undefined && parseDsn(dsn) === undefined) problem(['dsn'], `expected ${DSN_EXPECTED}, got [secret]`);
  },
);

/** @param environment source of `SENTRY_DSN`, used if the section sets none */
export function sentryConfig(parsed: z.output<typeof sentrySection>, environment: Environment) {
  const found = parseDsn(parsed.dsn ?? environment['SENTRY_DSN'] ?? '');
  return {
    /** Undefined: error reporting is disabled. */
    project: found === undefined ? undefined : { url: found.url, publicKey: new Secret(found.publicKey) },
    environment: parsed.environment,
    sampleRate: parsed.sample_rate,
    tracesSampleRate: parsed.traces_sample_rate,
  };
}
