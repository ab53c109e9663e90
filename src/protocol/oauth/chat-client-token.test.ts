import { describe, expect, test } from 'vitest';
import { parseChatClientToken } from './chat-client-token.ts';

const MACAROON =
  'MDAxYWxvY2F0aW9uIGNoYXQuZXhhbXBsZQowMDEzaWRlbnRpZmllciBrZXkKMDAxMGNpZCBnZW4gPSAxCjAwMjZjaWQgdXNlcl9pZCA9IEBhbWlyYTpjaGF0LmV4YW1wbGUKMDAxNmNpZCB0eXBlID0gYWNjZXNzCjAwMTljaWQgbm9uY2UgPSBhYmNkZWZnaAowMDJmc2lnbmF0dXJlIDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwCg';

describe('recognizes tokens of chat clients by format (chat-compat 10.3)', () => {
  test.each([
    ['mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M', 'access-token', '2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4'],
    ['syt_YW1pcmE_kbyTtqTbZVgQNhgKrQmZ_3uOxOE', 'access-token', ''],
    ['syt_w6RtaXJh+/_kbyTtqTbZVgQNhgKrQmZ_3uOxOE', 'access-token', ''],
    ['syr_YW1pcmE_oAbcDefGhiJklMnoPqrS_2BsZTO', 'refresh-token', ''],
    [MACAROON, 'access-token', ''],
  ])('%s', (text, kind, random) => {
    expect(parseChatClientToken(text)).toEqual({ kind, random });
  });

  test.each([
    ['nothing', ''],
    ['a token of an application', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['a wrong checksum', 'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8N'],
    ['two parts', 'syt_YW1pcmE_3uOxOE'],
    ['a part too many', 'syt_YW1pcmE_kbyT_tqTb_3uOxOE'],
    ['another character', 'syt_YW1pcmE_kbyTtqTbZVg QNhgKrQmZ_3uOxOE'],
    ['a line feed at the end', 'syt_YW1pcmE_kbyTtqTbZVgQNhgKrQmZ_3uOxOE\n'],
    ['another case', 'SYT_YW1pcmE_kbyTtqTbZVgQNhgKrQmZ_3uOxOE'],
    ['a name of a megabyte', `syt_${'A'.repeat(1_000_000)}_kbyTtqTbZVgQNhgKrQmZ_3uOxOE`],
    ['base64 of something else', Buffer.from('0018identifier key 0018location').toString('base64url')],
    ['a macaroon with a hole', `${MACAROON.slice(0, 40)} ${MACAROON.slice(40)}`],
    ['a macaroon of a megabyte', `${MACAROON}${'A'.repeat(1_000_000)}`],
    ['its beginning alone', 'MDAxYWxvY2F0aW9u'],
  ])('rejects %s', (_, text) => {
    expect(parseChatClientToken(text)).toBeUndefined();
  });
});
