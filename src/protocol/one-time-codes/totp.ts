/** Time-based one-time passwords for authenticator apps, limited to what every app supports (RFC 6238, RFC 4226). */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Length of a SHA-1 digest (RFC 4226 4 R6). */
export const TOTP_SECRET_BYTES = 20;
/** Tolerance for clock differences and slow typing (RFC 6238 5.2). */
const STEPS_EITHER_SIDE = 1;
export const TOTP_STEP_SECONDS = 30;
export const TOTP_DIGITS = 6;

/**
 * Returns the time step of a time.
 * @param now milliseconds since the epoch
 */
export function totpStep(now: number): number {
  return Math.floor(now / (TOTP_STEP_SECONDS * 1000));
}

/**
 * Returns the code of a time step.
 * @see RFC 4226 5.3
 * @internal for the test vectors
 */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** TOTP_DIGITS).padStart(TOTP_DIGITS, '0');
}

/**
 * Returns the time step of a code, at most one away from now; undefined if there is none. If two steps have the code,
 * returns the later one, so that no earlier code is accepted afterwards.
 * @param code six digits
 * @param now milliseconds since the epoch
 */
export function matchingTotpStep(secret: Buffer, code: string, now: number): number | undefined {
  const entered = Buffer.from(code);
  let matching: number | undefined;
  for (let away = -STEPS_EITHER_SIDE; away <= STEPS_EITHER_SIDE; away += 1) {
    const step = totpStep(now) + away;
    // A clock that lost its time starts at the epoch, where the step before does not exist.
    if (step < 0) continue;
    const expected = Buffer.from(totpCode(secret, step));
    if (expected.length === entered.length && timingSafeEqual(expected, entered)) matching = step;
  }
  return matching;
}
