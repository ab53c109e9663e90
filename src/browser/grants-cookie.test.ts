import { describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { Cookies } from '#platform/http/cookies.ts';
import { TEST_KEYS } from '#test/support/route-server.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { bindGrant, isGrantBound } from './grants-cookie.ts';
import { Urls } from './urls.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const cookies = new Cookies({
  keys: TEST_KEYS,
  address: new Urls('https://auth.example.org/'),
  log: silentLog,
  prefix: 'latchkey_',
});

describe('grants of this browser', () => {
  test('are the ten newest of the last hour', () => {
    const context = { cookies: cookies.jar(undefined) };
    const ids = Array.from({ length: 11 }, (_, index) => newId<'authorization-grant'>(NOW + index));
    for (const [index, id] of ids.entries()) bindGrant(context, id, NOW + index * 1000);
    const bound = ids.map((id) => isGrantBound(context, id, NOW + 11_000));
    expect(bound).toEqual([false, ...new Array(10).fill(true)]);
    const last = ids.at(-1) ?? newId(NOW);
    expect(isGrantBound(context, last, NOW + 10_000 + 3_599_000)).toBe(true);
    expect(isGrantBound(context, last, NOW + 10_000 + 3_600_000)).toBe(false);
  });

  test('are read back from the cookie', () => {
    const context = { cookies: cookies.jar(undefined) };
    const id = newId<'authorization-grant'>(NOW);
    bindGrant(context, id, NOW);
    const [header = ''] = context.cookies.changes();
    const next = { cookies: cookies.jar(header.split(';')[0]) };
    expect(isGrantBound(next, id, NOW)).toBe(true);
    expect(isGrantBound(next, newId(NOW), NOW)).toBe(false);
  });
});
