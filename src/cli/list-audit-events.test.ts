import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startPages } from '#test/support/page-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { ManageDeps } from './accounts.ts';
import { listAuditEventsCommand } from './list-audit-events.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';
import { setGroupsCommand } from './user-claims.ts';

const FORMULA = `=HYPERLINK("https://evil.example","x")`;
const START = Date.UTC(2026, 0, 1);
let printed: Printed;
let deps: ManageDeps;
let user: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));

beforeAll(async () => {
  user = await insertTestAccount(testDatabase.database, { username: 'cai' });
  for (const [index, agent] of [FORMULA, '+1', '-1', '@sum', '\t=1', '\r=1', 'a "quoted", text'].entries()) {
    const at = START + index * 1000;
    await sql(
      testDatabase.database,
      `insert into audit_events (id, kind, user_id, ip, user_agent, created_at)
       values ($1::uuid, 'login', $2::uuid, '192.0.2.7', $3::text, $4::timestamptz)`,
      [toUuid(newId(at)), toUuid(user), agent, new Date(at)],
    );
  }
});
beforeEach(() => {
  printed = { out: '', err: '' };
  deps = manageDeps(service, printed);
});

const ALL = { format: 'text', limit: 100 } as const;

describe('manage list-audit-events', () => {
  test('exports CSV in which no cell is a formula or has a control character (S-189)', async () => {
    await listAuditEventsCommand(deps, { ...ALL, user: 'cai', kind: ['login'], format: 'csv' });
    const [header, ...lines] = printed.out.trimEnd().split('\r\n');
    expect(header).toContain('created_at,kind,outcome,user_id,username,actor_type');
    expect(lines).toHaveLength(7);
    const agents = lines.map((line) => /192\.0\.2\.7,(.*),,,,,,\{\}$/.exec(line)?.[1]);
    expect(agents.toReversed()).toEqual([
      `"'=HYPERLINK(""https://evil.example"",""x"")"`,
      "'+1",
      "'-1",
      "'@sum",
      expect.stringMatching(/^\\/),
      expect.stringMatching(/^\\/),
      '"a ""quoted"", text"',
    ]);
    expect(printed.out.replaceAll('\r\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('exports NDJSON, and records each export as an event', async () => {
    await listAuditEventsCommand(deps, { ...ALL, format: 'ndjson', limit: 3, user: 'cai', kind: ['login'] });
    const documents = printed.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(documents).toHaveLength(3);
    expect(documents[0]).toMatchObject({
      ...{ kind: 'login', user_id: user, username: 'cai', actor_type: 'user', address: '192.0.2.7', outcome: 'ok' },
      created_at: new Date(START + 6000).toISOString(),
    });
    printed.out = '';
    await listAuditEventsCommand(deps, { ...ALL, actor: 'operator' });
    expect(printed.out).toMatch(/admin_action +- +operator +- +list-audit-events/);
  });

  test('finds what commands did, by account and time', async () => {
    await setGroupsCommand(deps, { user: 'cai', groups: ['crew'], json: false });
    printed.out = '';
    await listAuditEventsCommand(deps, { ...ALL, user: 'cai', kind: ['admin_action'], since: '2026-01-02' });
    expect(printed.out).toContain(`set-groups  user ${user}`);
    printed.out = '';
    await listAuditEventsCommand(deps, { ...ALL, user: 'cai', until: '2025-01-01T00:00:00Z' });
    expect(printed.out.split('\n')).toHaveLength(2);
  });

  test.each([
    [{ address: '192.0.2.7/24' }, '--address'],
    [{ client: 'x' }, '--client'],
    [{ kind: ['nothing'] }, '--kind'],
    [{ since: 'yesterday' }, '--since'],
    [{ until: '2026-13-01' }, '--until'],
    [{ user: 'nobody' }, 'user not found'],
  ])('%j is refused', async (options, message) => {
    await expect(listAuditEventsCommand(deps, { ...ALL, ...options })).rejects.toThrow(message);
    expect(printed.out).toBe('');
  });
});
