/** Sessions and tokens of chat clients that sign in through their own protocol. */
import type { Protection } from './protection.ts';

export const CHAT_COMPAT: readonly Protection[] = [
  {
    name: 'imported-keeps-family',
    what: 'an imported refresh token does not replace existing tokens of its session',
    attack: 42,
    removals: [{ text: ' and s.refresh_family is null`,', instead: '`,' }],
    test: 'src/features/chat-compat/imported-tokens.test.ts',
    testName: "that arrives late does not replace the session's current tokens",
  },
  {
    name: 'imported-left-behind',
    what: 'exchanging an imported refresh token revokes the others of the session',
    attack: 42,
    removals: [{ text: ' and o.id <> consumed.id and ', instead: ' and false and ' }],
    test: 'src/features/chat-compat/imported-tokens.test.ts',
    testName: 'is ignored after another token of its session was exchanged',
  },
  {
    name: 'provider-signs-out-chat',
    what: 'a logout token for all sessions also ends chat clients signed in by the browser session',
    attack: 126,
    removals: [
      {
        text: '`select s.id from compat_sessions s where $',
        instead: '`select s.id from compat_sessions s where false and $',
      },
    ],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'the browser session stays',
  },
  {
    name: 'clean-up-keeps-reuse',
    what: 'cleanup keeps used refresh tokens, so that reuse is detected',
    attack: 38,
    removals: [{ text: 'where n.id = t.successor_id and ', instead: 'where false and ' }],
    test: 'src/features/chat-compat/clean-up.test.ts',
    testName: 'of a lost response still return the same successor, however late the client retries',
  },
  {
    name: 'clean-up-keeps-use',
    what: 'cleanup keeps the access token that distinguishes a lost response from reuse',
    attack: 38,
    removals: [
      {
        text: 'where n.session_id = t.session_id and n.access_token_id = t.id\n',
        instead: 'where false\n',
      },
    ],
    test: 'src/features/chat-compat/clean-up.test.ts',
    testName: 'still end the session, however late',
  },
  {
    name: 'chat-refresh-locks-session',
    what: 'a refresh of a chat client locks its session',
    attack: 102,
    removals: [{ text: "SESSION_LOCK = 'for share of s';", instead: "SESSION_LOCK = '';" }],
    test: 'test/attacks/locks.test.ts',
    testName: 'the end of the session: a refresh gets no token',
  },
  {
    name: 'chat-introspection-of-locked',
    what: 'chat client tokens of locked or deactivated users are rejected',
    attack: 45,
    removals: [{ text: "{accountIsUsable('u')} as is_live,", instead: "{compatSessionIsLive('s')} as is_live," }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'of chat clients: all dead ones get the same empty answer',
  },
  {
    name: 'chat-token-shape',
    what: 'malformed chat client tokens are rejected without a query',
    attack: 45,
    removals: [
      { text: "  if (text?.kind !== 'refresh-token') return {", instead: '  if (text === undefined) return {' },
    ],
    test: 'src/features/chat-compat/refresh.test.ts',
    testName: 'rejects other kinds, malformed tokens and ended sessions as unknown',
  },
];
