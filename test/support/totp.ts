import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** What an authenticator app shows that knows this secret. @param now milliseconds since the epoch; @param away steps from now */
export function codeOfApp(secret: string, now: number, away = 0): string {
  return totpCode(fromBase32(secret), totpStep(now) + away);
}

/** A secret as it is shown. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((digit) => ALPHABET.indexOf(digit).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
