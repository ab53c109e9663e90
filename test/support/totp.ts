import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Returns the code of an authenticator app with this secret. @param now milliseconds since the epoch; @param away
 * offset in steps
 */
export function codeOfApp(secret: string, now: number, away = 0): string {
  return totpCode(fromBase32(secret), totpStep(now) + away);
}

/** Decodes a secret as pages show it. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((digit) => ALPHABET.indexOf(digit).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
