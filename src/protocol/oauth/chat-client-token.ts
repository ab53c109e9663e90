import { parseToken, TOKEN_ORIGINS, type TokenKind, type TokenOrigin } from './token-format.ts';

/** A token of a chat client that signed in through the routes of its own protocol, judged by its format alone. */
export interface ChatClientToken {
  readonly kind: TokenKind;
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

/** Returns what the format of a token says about it; undefined for text that cannot be a token and needs no query. */
export function tokenOrigin(text: string): TokenOrigin | undefined {
  const own = parseToken(text);
  if (own !== undefined) return TOKEN_ORIGINS[own.prefix];
  const kind = importedKind(text);
  return kind === undefined ? undefined : { source: 'chat-client', kind };
}

/** Like `tokenOrigin`, for the tokens of chat clients only. */
export function parseChatClientToken(text: string): ChatClientToken | undefined {
  const own = parseToken(text);
  if (own !== undefined) {
    const origin = TOKEN_ORIGINS[own.prefix];
    return origin?.source === 'chat-client' ? { kind: origin.kind, random: own.random } : undefined;
  }
  const kind = importedKind(text);
  return kind === undefined ? undefined : { kind, random: '' };
}

/** Tokens imported from the homeserver are looked up by row, so their checksums are not checked. */
function importedKind(text: string): TokenKind | undefined {
  if (SYNAPSE_TOKEN.test(text)) return text.startsWith('syr_') ? 'refresh-token' : 'access-token';
  return isMacaroon(text) ? 'access-token' : undefined;
}

function isMacaroon(text: string): boolean {
  if (!BASE64URL.test(text)) return false;
  const start = Buffer.from(text.slice(0, 20), 'base64url').toString('latin1');
  return start.startsWith(FIRST_FIELD, FIRST_FIELD_AT);
}
