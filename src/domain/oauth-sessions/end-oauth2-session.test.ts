import { describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertClient, insertUser, randomRoot, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { OAuth2SessionId } from '#vocabulary/ids.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';

const NOW = Date.UTC(2026, 5, 1);
const END = { reason: 'client_revoked', now: NOW, syncsDevices: false } as const;
const db = await sharedByTests(createTestDatabase());

async function open(parent?: OAuth2SessionId): Promise<OAuth2SessionId> {
  const clientId = await insertClient(db.database, new KeyRing(randomRoot()), NOW);
  const userId = await insertUser(db.database, NOW);
  const id = newId<'oauth2-session'>(NOW);
  await sql(
    db.database,
    `insert into oauth2_sessions (id, user_id, client_id, parent_session_id, scope, created_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, '{openid}', $5::timestamptz)`,
    [toUuid(id), toUuid(userId), toUuid(clientId), parent === undefined ? null : toUuid(parent), new Date(NOW)],
  );
  return id;
}

async function isFinished(id: OAuth2SessionId): Promise<boolean | undefined> {
  const [row] = await sql<{ finished: boolean }>(
    db.database,
    'select finished_at is not null as finished from oauth2_sessions where id = $1::uuid',
    [toUuid(id)],
  );
  return row?.finished;
}

describe('ending an OAuth session', () => {
  test('ends its child sessions at any depth; ending a child ends only the child', async () => {
    const parent = await open();
    const child = await open(parent);
    const grandchild = await open(child);
    const sibling = await open(parent);
    expect(await endOAuth2Session(db.database, sibling, END)).toBe(true);
    expect(await isFinished(parent)).toBe(false);
    expect(await endOAuth2Session(db.database, parent, END)).toBe(true);
    expect(await Promise.all([parent, child, grandchild].map(isFinished))).toEqual([true, true, true]);
  });

  test('from twenty callers at once ends it once, with one audit event', async () => {
    const id = await open();
    const ended = await Promise.all(Array.from({ length: 20 }, () => endOAuth2Session(db.database, id, END)));
    expect(ended.filter((isFirst) => isFirst)).toHaveLength(1);
    const events = await sql(db.database, 'select from audit_events where session_id = $1::uuid', [toUuid(id)]);
    expect(events).toHaveLength(1);
  });

  test('inside a transaction that rolls back leaves no trace', async () => {
    const id = await open();
    await expect(
      db.database.transaction(async (transaction) => {
        expect(await endOAuth2Session(transaction, id, END)).toBe(true);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await isFinished(id)).toBe(false);
    expect(await sql(db.database, 'select from audit_events where session_id = $1::uuid', [toUuid(id)])).toHaveLength(
      0,
    );
  });

  test('does not end a session that never existed', async () => {
    expect(await endOAuth2Session(db.database, newId(NOW), END)).toBe(false);
  });
});
