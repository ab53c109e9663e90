/**
 * Escapes untrusted text for log lines (operations 5.2, security 3.8). Such text must not end the line, break out of
 * its quotes, or change how a terminal or editor displays the surrounding text.
 */

const BIDI_CONTROLS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
const UNPRINTABLE = `\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029${BIDI_CONTROLS}\\ud800-\\udfff`;
// With the `u` flag, only unpaired surrogates match.
const IN_QUOTES = new RegExp(`["\\\\${UNPRINTABLE}]`, 'gu');
const IN_PATH = new RegExp(`["\\\\\\s${UNPRINTABLE}]`, 'gu');
const IN_TEXT = new RegExp(`[${UNPRINTABLE}]`, 'gu');
const LONE_SURROGATE = /[\ud800-\udfff]/gu;
// Bytes that are not UTF-8 are kept as this value plus the byte: a lone surrogate, which UTF-8 can never produce.
const UNDECODABLE = 0xdc00;
const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Escapes text between double quotes. */
export function escapeQuoted(text: string): string {
  return text.replace(IN_QUOTES, escapeCharacter);
}

/** Escapes a request path, which whitespace would end. */
export function escapePath(text: string): string {
  return text.replace(IN_PATH, escapeCharacter);
}

/** Escapes a message outside quotes. */
export function escapeText(text: string): string {
  return text.replace(IN_TEXT, escapeCharacter);
}

/** Returns a JSON string that also escapes the characters above, where JSON would permit them. */
export function jsonString(text: string): string {
  return JSON.stringify(text.replace(LONE_SURROGATE, escapeCharacter)).replace(
    IN_TEXT,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const isByte = code >= UNDECODABLE + 0x80 && code <= UNDECODABLE + 0xff;
  return SHORT_ESCAPES.get(character) ?? `\\u{${(isByte ? code - UNDECODABLE : code).toString(16)}}`;
}

// Matches one character of well-formed UTF-8 (Unicode table 3-7) in a text of bytes, or else a single byte.
const UTF8_CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;
const ASCII = /^[\x20-\x7e]*$/;

/**
 * Decodes a header value or request target, which Node provides with one character per received byte, as UTF-8.
 * Truncates it to `maxCharacters`, marked by `…`. Bytes that are not UTF-8 become lone surrogates, which the functions
 * above write as `\u{ff}`.
 */
export function decodeReceived(bytes: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  if (bytes.length <= maxCharacters && ASCII.test(bytes)) return bytes;
  // A character has at most four bytes, so nothing is lost here that the truncation below would keep.
  const decoded = bytes.slice(0, maxCharacters * 4 + 4).replace(UTF8_CHARACTER, decodeCharacter);
  if (decoded.length <= maxCharacters) return decoded;
  const characters = [...decoded];
  return characters.length <= maxCharacters ? decoded : `${characters.slice(0, maxCharacters).join('')}…`;
}

function decodeCharacter(bytes: string): string {
  if (bytes.length === 1) return String.fromCharCode(UNDECODABLE + bytes.charCodeAt(0));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
