import { randomBytes } from './random.ts';

/**
 * Record identifiers are ULIDs: 26 characters of Crockford base32 in the API, `uuid` columns in the database. One
 * branded type per kind prevents passing a client's id where a user's is expected.
 */
export type Ulid<Kind extends string = string> = string & { readonly __ulid: Kind };

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const HEX = '0123456789abcdef';
const ULID_LENGTH = 26;
const UUID_LENGTH = 36;
const HYPHEN = 0x2d;
/** Digit values by character code. Other characters count as 0. */
const BASE32_VALUES = valuesOf(ALPHABET);
const HEX_VALUES = valuesOf(HEX);
/** Character codes by value. */
const BASE32_CODES = Buffer.from(ALPHABET);
const HEX_CODES = Buffer.from(HEX);
// Each request converts several identifiers. Writing into a shared buffer costs one allocation per text.
const idBytes = Buffer.alloc(16);
const ulidText = Buffer.alloc(ULID_LENGTH);
const uuidText = Buffer.alloc(UUID_LENGTH);

/** Creates an identifier, sortable by `now` (milliseconds since the epoch). */
export function newId<Kind extends string>(now: number): Ulid<Kind> {
  idBytes.writeUIntBE(Math.floor(now), 0, 6);
  randomBytes(10).copy(idBytes, 6);
  let bits = 0;
  let buffered = 2;
  let length = 0;
  for (const byte of idBytes) {
    bits = (bits << 8) | byte;
    buffered += 8;
    while (buffered >= 5) {
      buffered -= 5;
      ulidText[length] = BASE32_CODES[(bits >> buffered) & 31] ?? 0;
      length += 1;
    }
    bits &= 31;
  }
  return ulidText.toString('latin1') as Ulid<Kind>;
}

/** Parses an identifier in upper or lower case. Returns undefined if the text is not one. */
export function parseId<Kind extends string>(text: string): Ulid<Kind> | undefined {
  if (text.length !== ULID_LENGTH) return undefined;
  if (ULID.test(text)) return text as Ulid<Kind>;
  const upper = text.toUpperCase();
  return ULID.test(upper) ? (upper as Ulid<Kind>) : undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Pattern of the texts that `parseIdOrUuid` accepts, for a case-insensitive match in PostgreSQL. */
export const ID_PATTERN = `${ULID.source}|${UUID.source}`;

/** Parses an identifier as administrators copy it: a ULID, or the UUID from the database, in upper or lower case. */
export function parseIdOrUuid<Kind extends string>(text: string): Ulid<Kind> | undefined {
  return UUID.test(text) ? fromUuid(text.toLowerCase()) : parseId(text);
}

/** Returns the creation time of an identifier, in milliseconds since the epoch. */
export function timeOfId(id: Ulid): number {
  let time = 0;
  for (let index = 0; index < 10; index += 1) time = time * 32 + base32Value(id, index);
  return time;
}

/** Converts an identifier to the text of a `uuid` column. */
export function toUuid(id: Ulid): string {
  let bits = 0;
  let buffered = 0;
  let length = 0;
  // 26 digits hold 130 bits. The two leading bits are always zero.
  for (let index = 0; index < ULID_LENGTH; index += 1) {
    bits = (bits << 5) | base32Value(id, index);
    buffered += index === 0 ? 3 : 5;
    while (buffered >= 4) {
      buffered -= 4;
      uuidText[length] = HEX_CODES[(bits >> buffered) & 15] ?? 0;
      length += 1;
      if (isHyphenAt(length)) {
        uuidText[length] = HYPHEN;
        length += 1;
      }
    }
    bits &= 15;
  }
  return uuidText.toString('latin1');
}

/** Converts the text of a `uuid` column to an identifier. */
export function fromUuid<Kind extends string>(uuid: string): Ulid<Kind> {
  let bits = 0;
  let buffered = 2;
  let length = 0;
  for (let index = 0; index < UUID_LENGTH; index += 1) {
    if (isHyphenAt(index)) continue;
    bits = (bits << 4) | (HEX_VALUES[uuid.charCodeAt(index)] ?? 0);
    buffered += 4;
    if (buffered >= 5) {
      buffered -= 5;
      ulidText[length] = BASE32_CODES[(bits >> buffered) & 31] ?? 0;
      length += 1;
    }
    bits &= 31;
  }
  return ulidText.toString('latin1') as Ulid<Kind>;
}

function isHyphenAt(index: number): boolean {
  return index === 8 || index === 13 || index === 18 || index === 23;
}

function base32Value(id: Ulid, index: number): number {
  return BASE32_VALUES[id.charCodeAt(index)] ?? 0;
}

function valuesOf(digits: string): Uint8Array {
  const values = new Uint8Array(128);
  for (const [value, digit] of [...digits].entries()) values[digit.charCodeAt(0)] = value;
  return values;
}

/** Returns the identifier below those of this millisecond and of later ones. */
export function lowestIdAt(time: number): Ulid {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return fromUuid(`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`);
}
