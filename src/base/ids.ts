import { randomBytes } from './random.ts';

/**
 * Record identifiers are ULIDs: 26 characters of Crockford base32 outside, a `uuid` column inside. A branded type per
 * kind keeps a client's id from being passed where a user's is wanted.
 */
export type Ulid<Kind extends string = string> = string & { readonly __ulid: Kind };

export type UserId = Ulid<'user'>;
export type BrowserSessionId = Ulid<'browser-session'>;
export type RegistrationId = Ulid<'registration'>;
export type ClientId = Ulid<'client'>;
export type AuthorizationGrantId = Ulid<'authorization-grant'>;
export type OAuth2SessionId = Ulid<'oauth2-session'>;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const HEX = '0123456789abcdef';
const DIGIT_OF = new Map([...ALPHABET].map((character, value) => [character, value]));

/** A new identifier, sortable by `now` (milliseconds since the epoch). */
export function newId<Kind extends string>(now: number): Ulid<Kind> {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(now, 0, 6);
  randomBytes(10).copy(bytes, 6);
  return fromBytes(bytes) as Ulid<Kind>;
}

/** Reads an identifier in either case; undefined when the text is none. */
export function parseId<Kind extends string>(text: string): Ulid<Kind> | undefined {
  const upper = text.length === 26 ? text.toUpperCase() : text;
  return ULID.test(upper) ? (upper as Ulid<Kind>) : undefined;
}

/** When an identifier was made: milliseconds since the epoch. */
export function timeOfId(id: Ulid): number {
  let time = 0;
  for (const digit of id.slice(0, 10)) time = time * 32 + (DIGIT_OF.get(digit) ?? 0);
  return time;
}

/** The text of the `uuid` column that holds this identifier. */
export function toUuid(id: Ulid): string {
  let bits = 0;
  let buffered = 0;
  let hex = '';
  // 26 digits hold 130 bits; the two leading ones are always zero.
  for (let index = 0; index < 26; index += 1) {
    bits = (bits << 5) | (DIGIT_OF.get(id.charAt(index)) ?? 0);
    buffered += index === 0 ? 3 : 5;
    while (buffered >= 4) {
      buffered -= 4;
      hex += HEX.charAt((bits >> buffered) & 15);
      if (hex.length === 8 || hex.length === 13 || hex.length === 18 || hex.length === 23) hex += '-';
    }
    bits &= 15;
  }
  return hex;
}

/** The identifier held by a `uuid` column. */
export function fromUuid<Kind extends string>(uuid: string): Ulid<Kind> {
  return fromBytes(Buffer.from(uuid.replaceAll('-', ''), 'hex')) as Ulid<Kind>;
}

function fromBytes(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let buffered = 2;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    buffered += 8;
    while (buffered >= 5) {
      buffered -= 5;
      text += ALPHABET.charAt((bits >> buffered) & 31);
    }
    bits &= 31;
  }
  return text;
}
