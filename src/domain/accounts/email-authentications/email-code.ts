import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { EmailAuthenticationId } from './email-authentication.ts';

const KEY_LABEL = 'email-codes';
const DIGITS = 6;

/** Identifies a code: the authentication and the number of the mail. */
export interface MailedCode {
  readonly authentication: EmailAuthenticationId;
  /** 1 for the first mail. */
  readonly mail: number;
}

/**
 * Derives the 6-digit code of a mail from the mail and a key of the service. The database therefore stores no codes,
 * and a mail that is sent twice because its delivery is uncertain has the same code (decision 0020).
 */
export function emailCode(keyRing: KeyRing, which: MailedCode): string {
  return codeUnder(keyRing.derive(KEY_LABEL), which);
}

/**
 * Returns whether this is the code of that mail. Also accepts codes derived before `secrets.encryption` was replaced.
 */
export function isEmailCode(keyRing: KeyRing, which: MailedCode, code: string): boolean {
  const entered = Buffer.from(code);
  return keyRing
    .deriveAll(KEY_LABEL)
    .map((key) => Buffer.from(codeUnder(key, which)))
    .some((expected) => expected.length === entered.length && timingSafeEqual(expected, entered));
}

function codeUnder(key: Buffer, { authentication, mail }: MailedCode): string {
  const bytes = createHmac('sha256', key).update(`${authentication}|${mail}`).digest();
  // 64 bits: the probabilities of codes differ by less than a billionth of a percent.
  return String(bytes.readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, '0');
}
