import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditEventFilter, auditEventListing, filtersOf } from '#domain/audit/list-audit-events.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { AnyStatement } from '#platform/postgres/statement.ts';
import { createTestDatabase } from '../support/database.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { Explainer } from './explain.ts';
import { countReadRows, findWholeScans } from './read-plan.ts';

const ROWS = 20_000;
/** Rows that a page may read, instead of 20,000. */
const BOUND = 200;
const PAGE = 20;
const WHOLE = { after: undefined, before: undefined };
const USER = '01JD3Q5Z8W2N4K6M7P9R0S1T01';
const ADMIN = '01JD3Q5Z8W2N4K6M7P9R0S1T02';
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T03';

const testDatabase = await sharedByTests(createTestDatabase());
const explainer = await sharedByTests(Explainer.open(testDatabase.connectionString));

beforeAll(async () => {
  // Every filter alone matches a share of the rows, and some of them together match none.
  await explainer.fill(`
    delete from audit_events;
    insert into audit_events (id, kind, user_id, client_id, ip, detail, created_at)
      select ('01900001-0000-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid,
             (array['login', 'login_failed', 'admin_action', 'session_started'])[1 + g % 4],
             case when g % 5 = 0 then '${uuidOf(USER)}'::uuid else md5('user' || g % 1000)::uuid end,
             case when g % 3 = 0 then '${uuidOf(CLIENT)}'::uuid end,
             ('192.0.2.' || g % 250)::inet,
             case when g % 4 = 2 then jsonb_build_object('admin', '${ADMIN}', 'actor', 'admin') end,
             now() - (${ROWS} - g) * interval '1 minute'
        from generate_series(1, ${ROWS}) g;
  `);
  await explainer.fill('vacuum analyze audit_events');
});

function uuidOf(id: string): string {
  return toUuid(idOf(id));
}

function idOf<Kind extends string>(text: string) {
  return parseId<Kind>(text) ?? expect.fail('no id');
}

interface Sent {
  readonly made: AnyStatement;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the statements of a page that is not full, or of a count. */
async function statementsOf(send: (queryable: Queryable) => Promise<unknown>): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const keep = (made: AnyStatement, parameters: object): void => {
    const texts = Object.entries(parameters).map(([name, value]) => [name, literal(value)]);
    sent.push({ made, parameters: Object.fromEntries(texts) });
  };
  await send({
    rows: async (made, parameters) => {
      keep(made, parameters);
      return [];
    },
    first: async (made, parameters) => {
      keep(made, parameters);
      return undefined;
    },
    execute: async () => 0,
  });
  return sent;
}

function literal(value: unknown): string {
  return Array.isArray(value) ? `{${value.join(',')}}` : String(value);
}

const FILTERS: Readonly<Record<string, AuditEventFilter>> = {
  user: { user: idOf(USER) },
  actor: { actor: idOf(ADMIN) },
  operators: { actor: 'operator' },
  kind: { kinds: ['login'] },
  kinds: { kinds: ['login', 'session_started', 'totp_added'] },
  client: { client: idOf(CLIENT) },
  address: { address: '192.0.2.7' },
  network: { address: '198.51.100.0/24' },
  failed: { outcome: 'failed' },
  ok: { outcome: 'ok' },
};
const NAMES = Object.keys(FILTERS);
const COMBINATIONS: readonly (readonly string[])[] = [
  [],
  ...NAMES.map((name) => [name]),
  ...NAMES.flatMap((one, index) => NAMES.slice(index + 1).map((other) => [one, other])),
];

describe('a page of audit events', () => {
  const listing = auditEventListing('audit-events-bounded', BOUND);

  test.each(COMBINATIONS.map((names) => [names.join(' and ') || 'without filters', names] as const))(
    '%s: reads a bounded number of rows by an index',
    async (_, names) => {
      const filter = Object.assign({}, ...names.map((name) => FILTERS[name]));
      const page = await statementsOf((queryable) => listing.page(queryable, filtersOf(filter), WHOLE, PAGE));
      const count = await statementsOf((queryable) => listing.count(queryable, filtersOf(filter), WHOLE));
      for (const [most, sent] of [
        // A page also reads how far it came.
        [BOUND + 1, page],
        [ROWS, count],
      ] as const) {
        for (const { made, parameters } of sent) {
          const plan = await explainer.run(made, parameters);
          expect([made.label, findWholeScans(plan)]).toEqual([made.label, []]);
          expect([made.label, countReadRows(plan)]).toEqual([made.label, expect.toSatisfy((read) => read <= most)]);
        }
      }
    },
  );
});
