import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rollUp } from '#domain/statistics/roll-up.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { CLIENT, PASSWORD, startAdministeredService } from './administered-service.test-support.ts';

const SERIES = z.object({
  data: z.object({ points: z.array(z.object({ at: z.string(), value: z.number().nullable() })) }),
});
const OVERVIEW = z.object({ data: z.object({ users: z.object({ active: z.number() }) }) });
let admin: AdminClient;

const administered = await sharedByTests(startAdministeredService());

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
});

async function rollUpAll(): Promise<void> {
  const { service, clock } = administered;
  await service.core.activity.flush();
  const { auditEventsSeconds } = service.core.config.retention;
  while (!(await rollUp({ database: service.database, clock, auditEventsSeconds })));
}

async function series(query: string): Promise<z.infer<typeof SERIES>['data']> {
  const { status, body } = await admin.get(`statistics/series?${query}`);
  expect(status).toBe(200);
  return SERIES.parse(body).data;
}

async function latest(metric: string, more = ''): Promise<number | null | undefined> {
  return (await series(`metric=${metric}${more}`)).points.at(-1)?.value;
}

test('shows what users and clients did today', async () => {
  const { service, clock } = administered;
  const { username } = await administered.person();
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username, password: 'wrong' });
  await browser.submit({ username: 'nobody-of-this-name', password: 'wrong' });
  await browser.submit({ username, password: PASSWORD });
  await browser.get('/');
  await rollUpAll();
  expect({
    signIns: await latest('sign_ins'),
    failures: await latest('sign_in_failures'),
    active: await latest('active_users'),
    share: await latest('second_factor_share'),
    tokens: await latest('tokens_issued'),
    tokensOfClient: await latest('tokens_issued', `&filter[client]=${CLIENT}`),
    inThisHour: await latest('sign_ins', '&step=hour'),
  }).toEqual({ signIns: 1, failures: 2, active: 1, share: 0, tokens: 1, tokensOfClient: 1, inThisHour: 1 });
  const { status, body } = await admin.get('statistics/overview');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    data: {
      users: { active: 1, locked: 0, deactivated: 0 },
      sessions: { browser: 1, personal: 0 },
      clients: { static: 2, managed: 0, dynamic: 0 },
      jobs: { failed: 0 },
      active_users: { today: 1, last_7_days: 1, last_30_days: 1 },
      complete_until: new Date(Math.floor(clock.now() / 3_600_000) * 3_600_000).toISOString().replace('Z', '000Z'),
    },
  });
});

test('the overview counts again after ten seconds', async () => {
  const { service, clock } = administered;
  const users = async () => {
    const { body } = await admin.get('statistics/overview');
    return OVERVIEW.parse(body).data.users.active;
  };
  const before = await users();
  await administered.person();
  clock.advanceSeconds(1);
  await administered.person();
  const soon = await users();
  clock.advanceSeconds(10);
  expect([soon - before <= 2, await users()]).toEqual([true, before + 2]);
  expect(await sql(service.database, 'select count(*)::integer as count from users')).toEqual([{ count: before + 2 }]);
});

describe('series', () => {
  test('extend the period to whole hours and days of UTC', async () => {
    const period = 'since=2026-03-28T23:30:00%2B01:00&until=2026-03-30T00:30:00%2B02:00';
    expect((await series(`metric=registrations&${period}`)).points.map(({ at }) => at)).toEqual(
      ['28', '29'].map((day) => `2026-03-${day}T00:00:00.000000Z`),
    );
    expect((await series(`metric=registrations&step=hour&${period}`)).points).toHaveLength(25);
    expect((await series('metric=registrations')).points).toHaveLength(31);
    expect((await series('metric=registrations&step=hour')).points).toHaveLength(49);
  });

  test.each([
    ['', 'metric', 'sign_ins, '],
    ['metric=sign-ins', 'metric', 'sign_ins, '],
    ['metric=sign_ins&metric=registrations', 'metric', 'once'],
    ['metric=', 'metric', 'value'],
    ['metric=sign_ins&step=week', 'step', 'must be day or hour'],
    ['metric=active_users&step=hour', 'step', 'must be day for active_users'],
    ['metric=sign_ins&since=yesterday', 'since', 'RFC 3339'],
    ['metric=sign_ins&until=2026-13-01T00:00:00Z', 'until', 'RFC 3339'],
    ['metric=sign_ins&since=2026-05-02T00:00:00Z&until=2026-05-02T00:00:00Z', 'since', 'before until'],
    ['metric=sign_ins&step=hour&since=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z', 'since', '1416 points'],
    ['metric=sign_ins&since=0001-01-01T00:00:00Z', 'since', 'at most 1000'],
    ['metric=registrations&filter[client]=01JD3Q5Z8W2N4K6M7P9R0S1T4X', 'filter[client]', 'not possible for'],
    ['metric=sign_ins&step=hour&filter[client]=01JD3Q5Z8W2N4K6M7P9R0S1T4X', 'step', 'must be day'],
    ['metric=sign_ins&filter[client]=grafana', 'filter[client]', 'ULID'],
    ['metric=sign_ins&filter[user]=x', 'filter[user]', 'unknown'],
    ['metric=sign_ins&page[first]=3', 'page[first]', 'unknown'],
  ])('with %s are refused: %s %s', async (query, parameter, problem) => {
    const { status, body } = await admin.get(`statistics/series?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ code: 'invalid_parameter', source: { parameter } }] });
    expect(JSON.stringify(body)).toContain(problem);
  });
});
