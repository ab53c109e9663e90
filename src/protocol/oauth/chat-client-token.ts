import { parseToken } from './token-format.ts';

/** A token of a chat client that signed in by the routes of its own protocol, by its form alone. */
export interface ChatClientToken {
  readonly kind: 'access-token' | 'refresh-token';
  /** The 30 random characters; empty for one that the homeserver issued before it delegated authentication. */
  readonly random: string;
}

/** What Synapse makes: `syt_` or `syr_`, the localpart in base64, a random part and a checksum, with `_` between them. */
const SYNAPSE_TOKEN = /^sy[tr]_[0-9A-Za-z+/]{0,400}_[0-9A-Za-z]{1,64}_[0-9A-Za-z]{6}$/;
/** What it made before: a macaroon in base64url, at most a few hundred bytes long. */
const BASE64URL = /^[0-9A-Za-z_-]{18,2048}={0,2}$/;
/** The first field of a macaroon, behind the four digits of its length. */
const FIRST_FIELD = 'location ';
const FIRST_FIELD_AT = 4;

/**
 * What kind of token of a chat client this is; undefined for a text that cannot be one, which needs no query. Those that
 * were imported from the homeserver are known by their rows: their checksums say nothing that the rows do not.
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
