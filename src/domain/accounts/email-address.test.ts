import { describe, expect, test } from 'vitest';
import { parseEmailAddress } from './email-address.ts';

describe('e-mail addresses (browser-flows 5.6)', () => {
  test.each([
    ['Ada@Example.NET', 'Ada@example.net', 'ada@example.net'],
    ['  ada@example.net\t', 'ada@example.net', 'ada@example.net'],
    ['first.last+tag@sub.example.co.uk', 'first.last+tag@sub.example.co.uk', 'first.last+tag@sub.example.co.uk'],
    ['ada@Bücher.example', 'ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    [
      "o'brien!#$%&*/=?^_`{|}~@example.net",
      "o'brien!#$%&*/=?^_`{|}~@example.net",
      "o'brien!#$%&*/=?^_`{|}~@example.net",
    ],
  ])('%j is sent to %j and compared as %j', (text, address, key) => {
    expect(parseEmailAddress(text)).toEqual({ address, key });
  });

  test.each([
    [''],
    ['ada'],
    ['@example.net'],
    ['ada@'],
    ['ada@localhost'],
    ['a@b@example.net'],
    ['"ada"@example.net'],
    ['.ada@example.net'],
    ['ada.@example.net'],
    ['a..da@example.net'],
    ['a da@example.net'],
    ['ädä@example.net'],
    ['ada@example..net'],
    ['ada@-example.net'],
    ['ada@example.net/path'],
    ['ada@exa%6dple.net'],
    ['ada@[192.0.2.1]'],
    ['ada@192.0.2.1'],
    ['ada@1.2'],
    ['ada@example.net\r\nBcc: eve@example.net'],
    [`${'a'.repeat(65)}@example.net`],
    [`${'a'.repeat(64)}@${'b.'.repeat(95)}net`],
  ])('%j is none', (text) => {
    expect(parseEmailAddress(text)).toBeUndefined();
  });

  test('a domain without a dot is accepted when it is listed', () => {
    expect(parseEmailAddress('root@LOCALHOST', ['localhost'])?.address).toBe('root@localhost');
    expect(parseEmailAddress('root@otherhost', ['localhost'])).toBeUndefined();
  });
});
