import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * What an authenticator app shows that knows this secret.
 * @param secret in base 32, as it is shown; @param now milliseconds since the epoch; @param away steps from now
 */
export function codeOfApp(secret: string, now: number, away = 0): string {
  const bits = [...secret].map((digit) => ALPHABET.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/.{8}/g) ?? [];
  return totpCode(Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))), totpStep(now) + away);
}
