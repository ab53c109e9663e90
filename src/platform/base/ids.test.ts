import { describe, expect, test } from 'vitest';
import { fromUuid, newId, parseId, timeOfId, toUuid } from './ids.ts';

describe('record identifiers', () => {
  test('have the same value as ULID and as uuid column', () => {
    const id = parseId('01ARZ3NDEKTSV4RRFFQ69G5FAV');
    expect(id === undefined ? '' : toUuid(id)).toBe('01563e3a-b5d3-d676-4c61-efb99302bd5b');
    expect(fromUuid('01563e3a-b5d3-d676-4c61-efb99302bd5b')).toBe(id);
    expect(fromUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
  });

  test('sort by creation time', () => {
    const ids = [1, 1_000, 1_700_000_000_000, 1_700_000_000_001].map((time) => newId(time));
    expect([...ids].sort()).toEqual(ids);
    expect(ids.map(toUuid)).toEqual(ids.map(toUuid).sort());
    expect(ids.map(timeOfId)).toEqual([1, 1_000, 1_700_000_000_000, 1_700_000_000_001]);
  });

  test('are accepted in either case and normalized to upper case', () => {
    expect(parseId('01arz3ndektsv4rrffq69g5fav')).toBe('01ARZ3NDEKTSV4RRFFQ69G5FAV');
  });

  test.each([
    '',
    '01ARZ3NDEKTSV4RRFFQ69G5FA',
    '01ARZ3NDEKTSV4RRFFQ69G5FAVX',
    '01ARZ3NDEKTSV4RRFFQ69G5FAI',
    '01ARZ3NDEKTSV4RRFFQ69G5FAU',
    '80000000000000000000000000',
    '01563e3a-b5d3-d676-4c61-efb99302bd5b',
    '01ARZ3NDEKTSV4RRFFQ69G5FA\0',
    '01ARZ3NDEKTSV4RRFFQ69G5Fſ',
  ])('reject %j (S-158)', (text) => {
    expect(parseId(text)).toBeUndefined();
  });
});
