import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { EmailAuthenticationId } from './email-authentication.ts';

const KEY_LABEL = 'email-codes';
const DIGITS = 6;

/** Which code: the one of this mail of an authentication. */
export interface MailedCode {
  readonly authentication: EmailAuthenticationId;
  /** 1 for the first mail. */
  readonly mail: number;
}

/**
 * The code of a mail: 6 digits that follow from the mail under a key of the service. So the database holds none, and a
 * mail that is sent twice, because nobody knows whether it arrived, has one code (decision 0020).
 */
export function emailCode(keyRing: KeyRing, which: MailedCode): string {
  return codeUnder(keyRing.derive(KEY_LABEL), which);
}

/** Whether it is the code of that mail; one made before `secrets.encryption` was replaced is accepted as well. */
export function isEmailCode(keyRing: KeyRing, which: MailedCode, code: string): boolean {
  const entered = Buffer.from(code);
  return keyRing
    .deriveAll(KEY_LABEL)
    .map((key) => Buffer.from(codeUnder(key, which)))
    .some((expected) => expected.length === entered.length && timingSafeEqual(expected, entered));
}

function codeUnder(key: Buffer, { authentication, mail }: MailedCode): string {
  const bytes = createHmac('sha256', key).update(`${authentication}|${mail}`).digest();
  // 64 bits: no code is more likely than another by more than a billionth of a percent.
  return String(bytes.readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, '0');
}
