import { randomBytes } from '#platform/base/random.ts';
import { cleanTypedCode } from './typed-codes.ts';

/** Digits and letters without those that look alike. */
const CHARACTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const LENGTH = 10;
const CODES_OF_A_SET = 10;
/** Bytes from here on are drawn again, so that each character is equally likely. */
const BYTE_LIMIT = 256 - (256 % CHARACTERS.length);
const CODE = new RegExp(`^[${CHARACTERS}]{${LENGTH}}$`);

/** A new set, without hyphens: each code has 49 bits, and none comes twice. */
export function newRecoveryCodes(): string[] {
  const codes = new Set<string>();
  while (codes.size < CODES_OF_A_SET) codes.add(newRecoveryCode());
  return [...codes];
}

function newRecoveryCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    for (const byte of randomBytes(LENGTH * 2)) {
      if (code.length < LENGTH && byte < BYTE_LIMIT) code += CHARACTERS.charAt(byte % CHARACTERS.length);
    }
  }
  return code;
}

/** The code as its person keeps it: `xxxxx-xxxxx`. */
export function formatRecoveryCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Reads what a person typed, in either case and with or without the hyphen; undefined when it is no recovery code. */
export function parseRecoveryCode(typed: string): string | undefined {
  const code = cleanTypedCode(typed).toLowerCase();
  return CODE.test(code) ? code : undefined;
}
