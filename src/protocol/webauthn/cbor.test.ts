import { describe, expect, test } from 'vitest';
import { decodeCbor } from './cbor.ts';

const decode = (hex: string): unknown => decodeCbor(Buffer.from(hex, 'hex'));

describe('authenticator CBOR', () => {
  // RFC 8949, appendix A.
  test.each<[string, unknown]>([
    ['00', 0],
    ['17', 23],
    ['1818', 24],
    ['1903e8', 1000],
    ['1a000f4240', 1_000_000],
    ['20', -1],
    ['3903e7', -1000],
    ['f4', false],
    ['f5', true],
    ['f6', null],
    ['40', Buffer.alloc(0)],
    ['4401020304', Buffer.from([1, 2, 3, 4])],
    ['6449455446', 'IETF'],
    ['80', []],
    ['8301820203820405', [1, [2, 3], [4, 5]]],
    ['a0', new Map()],
    [
      'a201020304',
      new Map([
        [1, 2],
        [3, 4],
      ]),
    ],
    [
      'a26161016162820203',
      new Map<string, unknown>([
        ['a', 1],
        ['b', [2, 3]],
      ]),
    ],
  ])('parses %s', (hex, value) => {
    expect(decode(hex)).toEqual({ value, size: hex.length / 2 });
  });

  test('leaves data after an item to the caller', () => {
    expect(decode('01ffff')).toEqual({ value: 1, size: 1 });
  });

  test.each([
    ['nothing', ''],
    ['a truncated length', '59ff'],
    ['fewer bytes than declared', '4401'],
    ['a list of four billion items', '9affffffff'],
    ['a map of four billion members', 'baffffffff00'],
    ['bytes of unknown length', '5f4101ff'],
    ['a list of unknown length', '9f01ff'],
    ['a number of eight bytes', '1b0000000000000001'],
    ['a reserved length', '1c'],
    ['a fraction', 'f93c00'],
    ['undefined', 'f7'],
    ['a tag', 'c000'],
    ['a key that is repeated', 'a201020103'],
    ['a key that is a list', 'a18001'],
    ['lists that nest five deep', '818181818100'],
    ['maps that nest five deep', 'a101a101a101a101a10100'],
    ['a hundred thousand nested lists', '81'.repeat(100_000)],
  ])('rejects %s', (_, hex) => {
    expect(decode(hex)).toBeUndefined();
  });
});
