import { beforeAll, describe, expect, test } from 'vitest';
import { fromUuid, newId, toUuid, type Ulid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type AuditEventFilter, auditEventListing, countAuditEvents, filtersOf } from './list-audit-events.ts';

const START = Date.UTC(2026, 5, 1);
const EVENTS = 600;
const KINDS = ['login', 'login_failed', 'admin_action', 'session_started', 'session_ended'];

interface Stored {
  readonly id: Ulid;
  readonly at: number;
  readonly kind: string;
  readonly user: UserId | undefined;
  readonly admin: UserId | undefined;
  readonly isOperator: boolean;
  readonly client: Ulid<'client'> | undefined;
  readonly ip: string;
}

const users = Array.from({ length: 4 }, () => newId<'user'>(START));
const clients = Array.from({ length: 3 }, () => newId<'client'>(START));
let stored: readonly Stored[];

/** Numbers that look random, the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  const pick = numbers(7);
  stored = Array.from({ length: EVENTS }, (_, index): Stored => {
    const at = START + index * 1000;
    const kind = KINDS[pick(KINDS.length)] ?? 'login';
    const isOperator = kind === 'admin_action' && pick(4) === 0;
    const isAdmin = !isOperator && (kind === 'admin_action' || pick(6) === 0);
    return {
      id: newId(at),
      at,
      kind,
      user: users[pick(users.length + 1)],
      admin: isAdmin ? users[pick(users.length)] : undefined,
      isOperator,
      client: clients[pick(clients.length + 2)],
      ip: `192.0.2.${pick(6)}`,
    };
  });
  await sql(
    testDatabase.database,
    `insert into audit_events (id, kind, user_id, client_id, ip, detail, created_at)
     select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::inet[], $6::jsonb[], $7::timestamptz[])`,
    [
      stored.map(({ id }) => toUuid(id)),
      stored.map(({ kind }) => kind),
      stored.map(({ user }) => user && toUuid(user)),
      stored.map(({ client }) => client && toUuid(client)),
      stored.map(({ ip }) => ip),
      stored.map(({ admin, isOperator }) => {
        if (isOperator) return JSON.stringify({ actor: 'operator' });
        return admin === undefined ? null : JSON.stringify({ actor: 'admin', admin });
      }),
      stored.map(({ at }) => new Date(at)),
    ],
  );
});

function matches(event: Stored, filter: AuditEventFilter): boolean {
  const { user, actor, kinds, client, address, since, until, outcome } = filter;
  const isOwn = event.admin === undefined && !event.isOperator && event.kind !== 'login_failed';
  const isBy = actor === 'operator' ? event.isOperator : event.admin === actor || (isOwn && event.user === actor);
  const isFrom = address?.endsWith('/30') ? Number(event.ip.split('.').at(-1)) < 4 : event.ip === address;
  return (
    (user === undefined || event.user === user) &&
    (actor === undefined || isBy) &&
    (kinds === undefined || kinds.includes(event.kind)) &&
    (client === undefined || event.client === client) &&
    (address === undefined || isFrom) &&
    (since === undefined || event.at >= since) &&
    (until === undefined || event.at < until) &&
    (outcome === undefined || (event.kind === 'login_failed') === (outcome === 'failed'))
  );
}

/** Returns a filter with each member in about a third of the cases. */
function anyFilter(pick: (below: number) => number): AuditEventFilter {
  const maybe = <Value>(value: Value): Value | undefined => (pick(3) === 0 ? value : undefined);
  return {
    user: maybe(users[pick(users.length)]),
    actor: maybe(pick(4) === 0 ? ('operator' as const) : users[pick(users.length)]),
    kinds: maybe(KINDS.filter(() => pick(2) === 0)),
    client: maybe(clients[pick(clients.length)]),
    address: maybe(pick(2) === 0 ? '192.0.2.0/30' : '192.0.2.5'),
    since: maybe(START + pick(EVENTS) * 1000),
    until: maybe(START + pick(EVENTS) * 1000),
    outcome: maybe(pick(2) === 0 ? ('ok' as const) : ('failed' as const)),
  };
}

describe('the list of audit events', () => {
  test.each([3, 10, 1000])('has every matching event once, newest first, if a page reads %d rows', async (bound) => {
    const listing = auditEventListing('audit-events-walked', bound);
    const pick = numbers(bound);
    for (let round = 0; round < 60; round += 1) {
      const filter = anyFilter(pick);
      const size = 1 + pick(20);
      const after = filter.since === undefined ? undefined : lowestAt(filter.since);
      const seen: string[] = [];
      let before = filter.until === undefined ? undefined : lowestAt(filter.until);
      for (let pages = 0; ; pages += 1) {
        expect(pages).toBeLessThan(EVENTS);
        const page = await listing.page(testDatabase.database, filtersOf(filter), { after, before }, size);
        expect(page.items.length).toBeLessThanOrEqual(size);
        seen.push(...page.items.map(({ id }) => fromUuid(id)));
        if (page.next === undefined) break;
        expect(before === undefined || page.next < before).toBe(true);
        before = page.next;
      }
      const expected = stored.filter((event) => matches(event, filter)).map(({ id }) => id);
      expect([filter, seen]).toEqual([filter, expected.toReversed()]);
    }
  });

  test('is counted exactly while that is cheap', async () => {
    const pick = numbers(11);
    for (let round = 0; round < 60; round += 1) {
      const filter = anyFilter(pick);
      const expected = stored.filter((event) => matches(event, filter)).length;
      expect(await countAuditEvents(testDatabase.database, filter)).toEqual({ count: expected, isCapped: false });
    }
    const few = await auditEventListing('audit-events-walked', 50).count(
      testDatabase.database,
      filtersOf({ outcome: 'ok' }),
      { after: undefined, before: undefined },
    );
    expect(few).toEqual({ count: expect.toSatisfy((count) => count < 50), isCapped: true });
  });
});

function lowestAt(time: number): Ulid {
  return fromUuid(`${toUuid(newId(time)).slice(0, 13)}-0000-0000-000000000000`);
}
