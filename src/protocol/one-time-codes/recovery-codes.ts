import { randomBytes } from '#platform/base/random.ts';
import { cleanTypedCode } from './typed-codes.ts';

/** Digits and letters without look-alikes. */
const CHARACTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const LENGTH = 10;
const CODES_OF_A_SET = 10;
/** Higher bytes are redrawn, so that each character is equally likely. */
const BYTE_LIMIT = 256 - (256 % CHARACTERS.length);
const CODE = new RegExp(`^[${CHARACTERS}]{${LENGTH}}$`);

/** Generates a set of distinct codes without hyphens. Each has 49 bits. */
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

/** Formats a code for display: `xxxxx-xxxxx`. */
export function formatRecoveryCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Parses user input in any case, with or without the hyphen; undefined if it is not a recovery code. */
export function parseRecoveryCode(typed: string): string | undefined {
  const code = cleanTypedCode(typed).toLowerCase();
  return CODE.test(code) ? code : undefined;
}
