/** Codes of authenticator apps: time-based one-time passwords with what every app can do (RFC 6238, RFC 4226). */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** As long as a digest of SHA-1 (RFC 4226 4 R6). */
export const TOTP_SECRET_BYTES = 20;
/** Of clocks that differ, and people who type slowly (RFC 6238 5.2). */
const STEPS_EITHER_SIDE = 1;
export const TOTP_STEP_SECONDS = 30;
export const TOTP_DIGITS = 6;

/** The time step of a moment. @param now milliseconds since the epoch */
export function totpStep(now: number): number {
  return Math.floor(now / (TOTP_STEP_SECONDS * 1000));
}

/** The code of a time step. @see RFC 4226 5.3 @internal for the test vectors */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** TOTP_DIGITS).padStart(TOTP_DIGITS, '0');
}

/**
 * The time step that a code belongs to, at most one away from now; undefined: to none of them. When it is the code of
 * two steps, the later one: no code before that will be accepted afterwards.
 * @param code six digits; @param now milliseconds since the epoch
 */
export function matchingTotpStep(secret: Buffer, code: string, now: number): number | undefined {
  const entered = Buffer.from(code);
  let matching: number | undefined;
  for (let away = -STEPS_EITHER_SIDE; away <= STEPS_EITHER_SIDE; away += 1) {
    const step = totpStep(now) + away;
    const expected = Buffer.from(totpCode(secret, step));
    if (expected.length === entered.length && timingSafeEqual(expected, entered)) matching = step;
  }
  return matching;
}
