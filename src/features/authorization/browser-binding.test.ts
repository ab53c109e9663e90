import { describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { TEST_KEYS } from '#test/support/route-server.ts';
import { opensBindTicket, sealBindTicket } from './browser-binding.ts';

const NOW = Date.UTC(2026, 5, 1, 12);

describe('the ticket of a posted request', () => {
  const id = newId<'authorization-grant'>(NOW);

  test('is valid for its grant within a minute', () => {
    const ticket = sealBindTicket(TEST_KEYS, id, NOW);
    expect(opensBindTicket(TEST_KEYS, id, ticket, NOW + 59_999)).toBe(true);
    expect(opensBindTicket(TEST_KEYS, id, ticket, NOW + 60_000)).toBe(false);
    expect(opensBindTicket(TEST_KEYS, newId(NOW), ticket, NOW)).toBe(false);
  });

  test.each(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '%%%'])('rejects %j', (ticket) => {
    expect(opensBindTicket(TEST_KEYS, id, ticket, NOW)).toBe(false);
  });
});
