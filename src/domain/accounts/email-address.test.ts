import { describe, expect, test } from 'vitest';
import { parseEmailAddress } from './email-address.ts';

describe('email addresses (browser-flows 5.6)', () => {
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
    ['Jürgen@Example.net', 'Jürgen@example.net', 'jürgen@example.net'],
    ['Ju\u0308rgen@bu\u0308cher.example', 'Jürgen@xn--bcher-kva.example', 'jürgen@xn--bcher-kva.example'],
    ['jürgen@XN--BCHER-KVA.example', 'jürgen@xn--bcher-kva.example', 'jürgen@xn--bcher-kva.example'],
    ['用户@例え.jp', '用户@xn--r8jz45g.jp', '用户@xn--r8jz45g.jp'],
    ['น้ำ@example.net', 'น้ำ@example.net', 'น้ำ@example.net'],
    ['ΝΙΚΟΣ@example.net', 'ΝΙΚΟΣ@example.net', 'νικος@example.net'],
    // Lower-casing İ adds a combining mark.
    ['İx@example.net', 'İx@example.net', 'i\u0307x@example.net'],
    // Every normalization form turns the Kelvin sign into the letter K.
    ['\u212aing@example.net', 'King@example.net', 'king@example.net'],
    [`${'ü'.repeat(32)}@example.net`, `${'ü'.repeat(32)}@example.net`, `${'ü'.repeat(32)}@example.net`],
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
    // Invisible, bidirectional, unassigned.
    ['jürgen\u200b@example.net'],
    ['jürg\u00adn@example.net'],
    ['jürgen\u202e@example.net'],
    ['jürgen\u061c@example.net'],
    ['\u3164@example.net'],
    ['ü\ufe0f@example.net'],
    ['ü\u0378@example.net'],
    ['ü\u00a0ü@example.net'],
    ['\ud800@example.net'],
    // Compatibility variants of ASCII characters.
    ['ａda@example.net'],
    ['ﬁn@example.net'],
    ['ü＠example.org@example.net'],
    // A combining mark without a base character.
    ['\u0308u@example.net'],
    ['u.\u0308u@example.net'],
    ['☃@example.net'],
    [`${'ü'.repeat(33)}@example.net`],
    [`${'ü'.repeat(32)}@${'b.'.repeat(94)}net`],
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
  ])('%j is invalid', (text) => {
    expect(parseEmailAddress(text)).toBeUndefined();
  });

  test('a domain without a dot is accepted when listed', () => {
    expect(parseEmailAddress('root@LOCALHOST', ['localhost'])?.address).toBe('root@localhost');
    expect(parseEmailAddress('root@otherhost', ['localhost'])).toBeUndefined();
  });
});
