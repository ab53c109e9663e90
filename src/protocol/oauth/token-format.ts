import { crc32 } from 'node:zlib';
import { randomAlphanumeric } from '#platform/base/random.ts';

/**
 * The format of tokens: `<prefix>_<30 characters 0-9A-Za-z>_<6-character checksum>`. The prefix indicates the kind. The
 * checksum rejects mistyped or invented tokens without a query and helps secret scanners to recognize leaked ones.
 */
export type TokenPrefix = 'mat' | 'mar' | 'mct' | 'mcr' | 'mpt' | 'mgt';

/**
 * Who holds a token: `oauth` is a registered client, `chat-client` signed in through the routes of its own protocol,
 * `personal` is a program with a personal access token.
 */
export type TokenSource = 'oauth' | 'chat-client' | 'personal';

export type TokenKind = 'access-token' | 'refresh-token';

/** What the format of a token says about it. */
export interface TokenOrigin {
  readonly source: TokenSource;
  readonly kind: TokenKind;
}

/** Undefined: not a token that a session has. A registration access token (`mgt`) only manages its client. */
export const TOKEN_ORIGINS = {
  mat: { source: 'oauth', kind: 'access-token' },
  mar: { source: 'oauth', kind: 'refresh-token' },
  mct: { source: 'chat-client', kind: 'access-token' },
  mcr: { source: 'chat-client', kind: 'refresh-token' },
  mpt: { source: 'personal', kind: 'access-token' },
  mgt: undefined,
} as const satisfies Readonly<Record<TokenPrefix, TokenOrigin | undefined>>;

export interface TokenText {
  readonly prefix: TokenPrefix;
  readonly random: string;
}

export const TOKEN_RANDOM_LENGTH = 30;

const PREFIX_LENGTH = 3;
const CHECKED_LENGTH = PREFIX_LENGTH + 1 + TOKEN_RANDOM_LENGTH;
const CHECKSUM_LENGTH = 6;
const FORM = /^(?:mat|mar|mct|mcr|mpt|mgt)_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Generates a token with 178 random bits. */
export function newToken(prefix: TokenPrefix): string {
  return formatToken(prefix, randomAlphanumeric(TOKEN_RANDOM_LENGTH));
}

/** @param random 30 characters of `0-9A-Za-z` */
export function formatToken(prefix: TokenPrefix, random: string): string {
  const checked = `${prefix}_${random}`;
  return `${checked}_${checksum(checked)}`;
}

/** Parses a token; undefined if the format, the prefix or the checksum is wrong. */
export function parseToken(text: string): TokenText | undefined {
  if (!FORM.test(text)) return undefined;
  if (checksum(text.slice(0, CHECKED_LENGTH)) !== text.slice(CHECKED_LENGTH + 1)) return undefined;
  const prefix = text.slice(0, PREFIX_LENGTH);
  return isTokenPrefix(prefix) ? { prefix, random: text.slice(PREFIX_LENGTH + 1, CHECKED_LENGTH) } : undefined;
}

/** Returns whether the text has the format of a token with a known prefix, ignoring the checksum. */
export function hasTokenForm(text: string): boolean {
  return FORM.test(text);
}

function isTokenPrefix(text: string): text is TokenPrefix {
  return text === 'mat' || text === 'mar' || text === 'mct' || text === 'mcr' || text === 'mpt' || text === 'mgt';
}

/** Returns the CRC-32 (ISO-HDLC) in base 62, least significant digit first, then padded on the left. */
function checksum(checked: string): string {
  let rest = crc32(checked);
  let digits = '';
  while (rest > 0) {
    digits += DIGITS.charAt(rest % 62);
    rest = Math.floor(rest / 62);
  }
  return digits.padStart(CHECKSUM_LENGTH, '0');
}
