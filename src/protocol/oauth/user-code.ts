import { randomBytes } from '#platform/base/random.ts';

/** Consonants that do not look alike and spell no words (RFC 8628 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** Longer texts are not what a device showed. */
const MAX_TYPED_CHARACTERS = 32;
/** Bytes from here on are drawn again, so that each letter is equally likely. */
const BYTE_LIMIT = 256 - (256 % LETTERS.length);

/** A new user code without its hyphen: 8 letters, 34.5 bits. */
export function newUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    for (const byte of randomBytes(LENGTH * 2)) {
      if (code.length < LENGTH && byte < BYTE_LIMIT) code += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return code;
}

/** The code as a device shows it: `XXXX-XXXX`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Reads what a person typed, in either case and with anything between the letters; undefined when it is not a user code. */
export function parseUserCode(typed: string): string | undefined {
  if (typed.length > MAX_TYPED_CHARACTERS) return undefined;
  const code = [...typed.toUpperCase()].filter((character) => LETTERS.includes(character)).join('');
  return code.length === LENGTH ? code : undefined;
}
