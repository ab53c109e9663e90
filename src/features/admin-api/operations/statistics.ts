/** What exists now, and how it developed (administration 6). */
import { z } from 'zod';
import { readOverview } from '#domain/administration/read-overview.ts';
import { DAILY_METRICS, METRICS, METRICS_OF_CLIENTS, STEPS } from '#domain/statistics/metrics.ts';
import { readSeries, STEP_MS, wholeSteps } from '#domain/statistics/read-series.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { json } from '#platform/http/response.ts';
import { time } from '../definition/documents.ts';
import { EXAMPLE_ID, EXAMPLE_TIME, filter, instant, requiredParameter, ulid } from '../definition/fields.ts';
import { badParameter, checkNames, readFilters, readParameters } from '../definition/list-parameters.ts';
import type { Operation } from '../definition/operation.ts';

/** Three years of days, or six weeks of hours. */
const MAX_POINTS = 1_000;
/** Steps of a series whose start is not given. */
const DEFAULT_STEPS = { day: 30, hour: 48 } as const;

const count = () => z.int().min(0);

const overview = z.object({
  data: z
    .object({
      at: z.iso.datetime().describe('When the objects were counted, at most ten seconds ago.'),
      users: z
        .object({
          active: count().describe('Neither locked nor deactivated.'),
          locked: count().describe('Locked.'),
          deactivated: count().describe('Deactivated.'),
        })
        .describe('Accounts by status. One that is locked and deactivated counts twice.'),
      sessions: z
        .object({
          browser: count().describe('Browser sessions.'),
          oauth2: count().describe('Sessions of clients of users.'),
          compat: count().describe('Sessions of chat clients without OAuth.'),
          personal: count().describe('Personal sessions.'),
        })
        .describe('Active sessions by kind. Numbers above 100,000 are estimates.'),
      clients: z
        .object({
          static: count().describe('Of the configuration.'),
          managed: count().describe('Created by administrators.'),
          dynamic: count().describe('Registered by themselves.'),
        })
        .describe('Clients by kind.'),
      jobs: z
        .object({
          waiting: count().describe('Due, but not running yet.'),
          failed: count().describe('Failed for the last time.'),
        })
        .describe('Background jobs; at most 10,000 of each kind are counted.'),
      active_users: z
        .object({
          today: count().describe('Today (UTC) so far.'),
          last_7_days: count().describe('Today and in the six days before.'),
          last_30_days: count().describe('Today and in the 29 days before.'),
        })
        .describe('Accounts of which a session was used, at most ten minutes ago.'),
      complete_until: z.iso
        .datetime()
        .nullable()
        .describe('Series are complete until then; null: the job that adds up figures has not run yet.'),
    })
    .describe('Numbers of objects.'),
});

const parameters = z.object({
  metric: requiredParameter(
    z.enum(METRICS, METRICS.join(', ')),
    'The counted events. `sign_ins`: browser sessions that users opened; for a client, its sessions that they opened. ' +
      '`sign_in_failures`: wrong passwords and codes. `registrations`: new accounts. `tokens_issued`: responses with ' +
      'an access token. `active_users`, `active_users_7d`, `active_users_30d`: accounts of which a session was used ' +
      'on the day, or within the days that end with it; only with `step=day`. `second_factor_share`: share of ' +
      '`sign_ins` with a second factor or a passkey, from 0 to 1.',
    'sign_ins',
  ),
  since: filter(
    instant(),
    'Start (RFC 3339), reduced to a whole hour or day in UTC. Default: 30 days or 48 hours before `until`.',
    EXAMPLE_TIME,
  ),
  until: filter(
    instant(),
    'End (RFC 3339), extended to a whole hour or day in UTC. Default: now.',
    '2026-02-28T12:00:00Z',
  ),
  step: filter(z.enum(STEPS, 'must be day or hour'), 'Length of a point: `hour` or `day`, which is the default.'),
});

const filters = z.object({
  client: filter(
    ulid(),
    'Only of the client with this ID, which need not exist any more. With `sign_ins` and `tokens_issued`, by day.',
    EXAMPLE_ID,
  ),
});

const series = z.object({
  data: z
    .object({
      metric: z.enum(METRICS).describe('As requested.'),
      step: z.enum(STEPS).describe('As requested.'),
      since: z.iso.datetime().describe('Start of the first point.'),
      until: z.iso.datetime().describe('End of the last point, exclusive.'),
      points: z
        .array(
          z
            .object({
              at: z.iso.datetime().describe('Start of the hour or day.'),
              value: z.number().min(0).nullable().describe('The figure; null: a share of nothing.'),
            })
            .describe('One hour or day.'),
        )
        .describe('One for each hour or day, the oldest first. Those that are not over yet grow.'),
    })
    .describe('A series.'),
});

/** @throws LatchkeyError `invalid_parameter` */
function readWanted(query: FormParameters, now: number) {
  checkNames(query, filters, Object.keys(parameters.shape));
  const { metric, step = 'day', since, until = new Date(now) } = readParameters(query, parameters);
  const { client } = readFilters(query, filters);
  if (DAILY_METRICS.includes(metric) && step !== 'day') throw badParameter('step', `must be day for ${metric}`);
  if (client !== undefined && !METRICS_OF_CLIENTS.includes(metric)) {
    throw badParameter('filter[client]', `not possible for ${metric}`);
  }
  if (client !== undefined && step !== 'day') throw badParameter('step', 'must be day with filter[client]');
  const start = since?.getTime() ?? until.getTime() - DEFAULT_STEPS[step] * STEP_MS[step];
  if (start >= until.getTime()) throw badParameter('since', 'must be before until');
  const span = wholeSteps(step, start, until.getTime());
  const points = (span.until - span.since) / STEP_MS[step];
  if (points > MAX_POINTS) throw badParameter('since', `${points} points, at most ${MAX_POINTS} are possible`);
  return { metric, step, client: client === undefined ? undefined : fromUuid<'client'>(client), ...span };
}

export const statisticsOperations: readonly Operation[] = [
  {
    id: 'getStatisticsOverview',
    method: 'GET',
    path: 'statistics/overview',
    tag: 'statistics',
    summary: 'Counts accounts, sessions, clients and jobs',
    description: 'Returns what exists now, and how many accounts were active recently.',
    answers: [{ status: 200, schema: overview, description: 'The numbers.' }],
    errors: [],
    run: async ({ core: { database, clock } }) => {
      const { at, users, sessions, clients, jobs, activeUsers, figuresUntil } = await readOverview(
        database,
        clock.now(),
      );
      const data: z.input<typeof overview>['data'] = {
        at: time(at),
        users,
        sessions,
        clients,
        jobs: { waiting: jobs.due, failed: jobs.dead },
        active_users: {
          today: activeUsers.today,
          last_7_days: activeUsers.week,
          last_30_days: activeUsers.month,
        },
        complete_until: figuresUntil === undefined ? null : time(figuresUntil),
      };
      return json(200, { data });
    },
  },
  {
    id: 'getStatisticsSeries',
    method: 'GET',
    path: 'statistics/series',
    tag: 'statistics',
    summary: 'Gets how a figure developed by day or hour',
    description:
      'Every hour or day has a point; a response has at most 1,000. Figures are added up every ten minutes from audit ' +
      'events and counters, and kept for 13 months. Days and hours are those of UTC.',
    parameters,
    filters,
    pages: 'none',
    answers: [{ status: 200, schema: series, description: 'The series.' }],
    errors: ['invalid_parameter'],
    run: async ({ core: { database, clock }, context }) => {
      const wanted = readWanted(context.query, clock.now());
      const points = await readSeries(database, wanted);
      const data: z.input<typeof series>['data'] = {
        metric: wanted.metric,
        step: wanted.step,
        since: time(wanted.since),
        until: time(wanted.until),
        points: points.map(({ at, value }) => ({ at: time(at), value: value ?? null })),
      };
      return json(200, { data });
    },
  },
];
