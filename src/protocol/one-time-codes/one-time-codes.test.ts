import { describe, expect, test } from 'vitest';
import { encodeBase32, otpauthUrl } from './otpauth-url.ts';
import { formatRecoveryCode, newRecoveryCodes, parseRecoveryCode } from './recovery-codes.ts';
import { matchingTotpStep, totpCode, totpStep } from './totp.ts';
import { parseSixDigits } from './typed-codes.ts';

/** The secret in the examples of both standards. */
const SECRET = Buffer.from('12345678901234567890');

describe('codes of authenticator apps', () => {
  test('match the examples of RFC 4226 (appendix D)', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => totpCode(SECRET, counter));
    expect(codes).toEqual([
      ...['755224', '287082', '359152', '969429', '338314'],
      ...['254676', '287922', '162583', '399871', '520489'],
    ]);
  });

  // The last six of the standard's eight digits.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %i match the examples of RFC 6238 (appendix B)', (second, code) => {
    expect(totpCode(SECRET, totpStep(second * 1000))).toBe(code);
    expect(matchingTotpStep(SECRET, code, second * 1000)).toBe(totpStep(second * 1000));
  });

  test('are accepted one step before and after their own, and no further (RFC 6238 5.2)', () => {
    const at = (step: number) => matchingTotpStep(SECRET, totpCode(SECRET, 100), step * 30_000);
    expect([98, 99, 100, 101, 102].map(at)).toEqual([undefined, 100, 100, 100, undefined]);
    expect(matchingTotpStep(Buffer.from('another secret of 20'), totpCode(SECRET, 100), 3_000_000)).toBeUndefined();
  });

  test('are accepted in the first step of the epoch, which has none before it', () => {
    expect(matchingTotpStep(SECRET, totpCode(SECRET, 0), 0)).toBe(0);
    expect(matchingTotpStep(SECRET, totpCode(SECRET, 1), 29_999)).toBe(1);
  });

  test.each([
    ['123456', '123456'],
    [' 123 456 ', '123456'],
    ['123-456', '123456'],
    ['１２３４５６', '123456'],
    ['١٢٣٤٥٦', '123456'],
    ['12345', undefined],
    ['1234567', undefined],
    ['', undefined],
    ['12345a', undefined],
    ['1'.repeat(100_000), undefined],
  ])('typed as %j are parsed as %j', (typed, code) => {
    expect(parseSixDigits(typed)).toBe(code);
  });
});

describe('links for authenticator apps', () => {
  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('%j is %j in base 32 (RFC 4648 10, without padding)', (text, encoded) => {
    expect(encodeBase32(Buffer.from(text))).toBe(encoded);
  });

  test('contain service and user, and the code parameters', () => {
    const url = otpauthUrl({ issuer: 'Café: north & south', account: 'dana@example.org' }, SECRET);
    expect(url).toBe(
      'otpauth://totp/Caf%C3%A9%20%20north%20%26%20south:dana%40example.org' +
        '?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Caf%C3%A9%20%20north%20%26%20south' +
        '&algorithm=SHA1&digits=6&period=30',
    );
  });
});

describe('recovery codes', () => {
  test('are ten different ones of 31 characters, each about equally often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 300; round += 1) {
      const codes = newRecoveryCodes();
      expect(new Set(codes).size).toBe(10);
      for (const code of codes) {
        expect(code).toMatch(/^[23456789abcdefghjkmnpqrstuvwxyz]{10}$/);
        for (const character of code) counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(31);
    // Expects 968 of each, within 6 standard deviations.
    for (const [character, count] of counts) expect(Math.abs(count - 968), character).toBeLessThan(184);
  });

  test.each([
    ['abcde-fgh23', 'abcdefgh23'],
    ['ABCDE FGH23', 'abcdefgh23'],
    [' abcde–fgh23\n', 'abcdefgh23'],
    ['abcde-fgh2', undefined],
    ['abcde-fgh234', undefined],
    ['abcde-fghi1', undefined],
    ['', undefined],
  ])('typed as %j are parsed as %j', (typed, code) => {
    expect(parseRecoveryCode(typed)).toBe(code);
  });

  test('are displayed in two halves, which can be parsed', () => {
    const [code = ''] = newRecoveryCodes();
    expect(formatRecoveryCode(code)).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/);
    expect(parseRecoveryCode(formatRecoveryCode(code))).toBe(code);
  });
});
