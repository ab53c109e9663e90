import { describe, expect, test } from 'vitest';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { consumeOnce, type OneTimeValue } from './replayed-values.ts';

const ROUNDS = 300;
const CALLERS = 8;
const clock = new FakeClock();

const testDatabase = await sharedByTests(createTestDatabase());
const second = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(testDatabase.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);

function oneTime(value: string, changes: Partial<OneTimeValue> = {}): OneTimeValue {
  return { kind: 'client-assertion', owner: 'client', value, expiresAt: clock.now() + 60_000, ...changes };
}

const accept = (value: OneTimeValue) => consumeOnce(testDatabase.database, value, clock.now());

describe('a one-time value', () => {
  test('is accepted once for each kind and owner', async () => {
    expect(await accept(oneTime('a'))).toBe(true);
    expect(await accept(oneTime('a'))).toBe(false);
    expect(await accept(oneTime('a', { owner: 'other' }))).toBe(true);
    expect(await accept(oneTime('a', { kind: 'dpop-proof' }))).toBe(true);
    expect(await accept(oneTime('b'))).toBe(true);
  });

  test('counts as two values when two callers split the same text differently', async () => {
    expect(await accept(oneTime('cd', { owner: 'ab' }))).toBe(true);
    expect(await accept(oneTime('d', { owner: 'abc' }))).toBe(true);
  });

  test('is accepted again as soon as it has expired, whether or not its row was deleted', async () => {
    const value = oneTime('expiring');
    expect(await accept(value)).toBe(true);
    clock.advanceSeconds(59.999);
    expect(await accept(value)).toBe(false);
    clock.advanceSeconds(0.001);
    const again = oneTime('expiring');
    expect(await accept(again)).toBe(true);
    expect(await accept(again)).toBe(false);
  });

  test('is stored only as a digest', async () => {
    await accept(oneTime('very-secret-id'));
    const rows = await sql<{ text: string }>(
      testDatabase.database,
      `select encode(value_hash, 'escape') || ' ' || to_jsonb(r) as text from replayed_values r`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { text } of rows) expect(text).not.toContain('very-secret-id');
  });

  test(`${ROUNDS} races of ${CALLERS} callers on two instances have one winner each`, { timeout: 60_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      // Every other value expired before, so that both ways of accepting a value are raced.
      const value = oneTime(`race ${round >> 1}`, { expiresAt: clock.now() + 1000 });
      const accepted = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) =>
          consumeOnce(caller % 2 === 0 ? testDatabase.database : second, value, clock.now()),
        ),
      );
      expect(accepted.filter((isAccepted) => isAccepted)).toHaveLength(1);
      clock.advanceSeconds(1);
    }
  });
});
