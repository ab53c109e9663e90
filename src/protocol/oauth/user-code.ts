import { randomBytes } from '#platform/base/random.ts';

/** Consonants without look-alikes, which form no words (RFC 8628 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** Longer input cannot be a displayed code. */
const MAX_TYPED_CHARACTERS = 32;
/** Higher bytes are redrawn, so that each letter is equally likely. */
const BYTE_LIMIT = 256 - (256 % LETTERS.length);

/** Generates a user code without its hyphen: 8 letters, 34.5 bits. */
export function newUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    for (const byte of randomBytes(LENGTH * 2)) {
      if (code.length < LENGTH && byte < BYTE_LIMIT) code += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return code;
}

/** Formats a code for display on a device: `XXXX-XXXX`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Parses user input in any case, with anything between the letters; undefined if it is not a user code. */
export function parseUserCode(typed: string): string | undefined {
  if (typed.length > MAX_TYPED_CHARACTERS) return undefined;
  const code = [...typed.toUpperCase()].filter((character) => LETTERS.includes(character)).join('');
  return code.length === LENGTH ? code : undefined;
}
