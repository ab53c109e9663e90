import { parseToken } from './token-format.ts';

/** A token of a chat client that signed in through the routes of its own protocol, judged by its format alone. */
export interface ChatClientToken {
  readonly kind: 'access-token' | 'refresh-token';
  /** The 30 random characters; empty for a token that the homeserver issued before it delegated authentication. */
  readonly random: string;
}

/** Format of Synapse: `syt_` or `syr_`, the localpart in base64, a random part and a checksum, separated by `_`. */
const SYNAPSE_TOKEN = /^sy[tr]_[0-9A-Za-z+/]{0,400}_[0-9A-Za-z]{1,64}_[0-9A-Za-z]{6}$/;
/** Earlier format of Synapse: a macaroon in base64url, at most a few hundred bytes long. */
const BASE64URL = /^[0-9A-Za-z_-]{18,2048}={0,2}$/;
/** The first field of a macaroon, after the four digits of its length. */
const FIRST_FIELD = 'location ';
const FIRST_FIELD_AT = 4;

/**
 * Returns the kind of a chat client's token; undefined for text that cannot be one and needs no query. Tokens imported
 * from the homeserver are looked up by row, so their checksums are not checked.
 */
export function parseChatClientToken(text: string): ChatClientToken | undefined {
  const own = parseToken(text);
  if (own !== undefined) {
    if (own.prefix === 'mct') return { kind: 'access-token', random: own.random };
    return own.prefix === 'mcr' ? { kind: 'refresh-token', random: own.random } : undefined;
  }
  if (SYNAPSE_TOKEN.test(text)) {
    return { kind: text.startsWith('syr_') ? 'refresh-token' : 'access-token', random: '' };
  }
  return isMacaroon(text) ? { kind: 'access-token', random: '' } : undefined;
}

function isMacaroon(text: string): boolean {
  if (!BASE64URL.test(text)) return false;
  const start = Buffer.from(text.slice(0, 20), 'base64url').toString('latin1');
  return start.startsWith(FIRST_FIELD, FIRST_FIELD_AT);
}
