/** What is wrong with the deployment, as far as the running service can judge it (administration 7). */
import { z } from 'zod';
import { CHECK_CODES, describeCheck, type Status } from '#domain/health/finding.ts';
import { readHealth } from '#domain/health/read-health.ts';
import { json } from '#platform/http/response.ts';
import { time } from '../definition/documents.ts';
import type { Operation } from '../definition/operation.ts';

const SEVERITIES = ['error', 'warning', 'ok', 'skipped'] as const;

/** In order of the list. */
const SEVERITY: Readonly<Record<Status, (typeof SEVERITIES)[number]>> = {
  fail: 'error',
  warn: 'warning',
  ok: 'ok',
  skip: 'skipped',
};

const findings = z.object({
  data: z
    .object({
      checked_at: z.iso.datetime().describe('When the checks began, at most a minute ago.'),
      findings: z
        .array(
          z
            .object({
              code: z.enum(CHECK_CODES).describe('Name of the check. The same names as in `latchkey doctor`.'),
              subject: z
                .string()
                .nullable()
                .describe(
                  'ID of the sign-in provider (`upstream`), or name of the listener (`tls`); null: all others.',
                ),
              severity: z
                .enum(SEVERITIES)
                .describe(
                  '`error`: something does not work. `warning`: it does not work for all users, or not for long. `ok`: no ' +
                    'problem. `skipped`: the check does not apply, or could not run.',
                ),
              message: z.string().describe('The result, in English.'),
              remedy: z.string().nullable().describe('How to fix the problem, in English; null: no action is needed.'),
              documentation: z.string().describe('Page of the manual, as a path in the repository.'),
            })
            .describe('Result of one check.'),
        )
        .describe('Results of all checks: errors first, then warnings.'),
    })
    .describe('State of the deployment.'),
});

export const healthOperations: readonly Operation[] = [
  {
    id: 'listHealthFindings',
    method: 'GET',
    path: 'health-findings',
    tag: 'server',
    summary: 'Checks the deployment',
    description:
      'Returns what `latchkey doctor` finds, as far as the running service can judge it: settings, database, background ' +
      'jobs, certificates, email, sign-in providers, the homeserver, and its own public URLs. The process that responds ' +
      'checks everything at most once a minute, in ten seconds at most, and stored data every 15 minutes. It requests ' +
      'only URLs of the configuration.',
    answers: [{ status: 200, schema: findings, description: 'The findings.' }],
    errors: [],
    run: async ({ core }) => {
      const { at, findings: found } = await readHealth(core);
      const shown = found.map(({ name, status, message, hint }) => {
        const { code, subject, guide } = describeCheck(name);
        return {
          ...{ code, subject: subject ?? null, severity: SEVERITY[status], message, remedy: hint },
          documentation: guide,
        };
      });
      const rank = ({ severity }: (typeof shown)[number]): number => SEVERITIES.indexOf(severity);
      const sorted = shown.toSorted((a, b) => rank(a) - rank(b));
      return json(200, { data: { checked_at: time(at), findings: sorted } });
    },
  },
];
