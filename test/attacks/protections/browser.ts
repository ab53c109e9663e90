/** Forms, cookies, browser sessions and sign-out. */
import type { Protection } from './protection.ts';

export const BROWSER: readonly Protection[] = [
  {
    name: 'account-area-opener',
    what: 'a window that opened the account area has no reference to it',
    attack: 68,
    removals: [
      { text: '  if (isCrossSigningReset(wanted)) return response;\n', instead: '  if (wanted) return response;\n' },
    ],
    test: 'src/features/account-area/account-area.test.ts',
    testName: '(S-68)',
  },
  {
    name: 'account-area-dot-segments',
    what: 'a path with a dot segment is not part of the account area',
    attack: 152,
    removals: [{ text: 'return DOT_SEGMENT.test(path);', instead: "return path === '';" }],
    test: 'test/attacks/proxies-and-framing.test.ts',
    testName: 'return 404 or exactly the same page',
  },
  {
    name: 'form-origin',
    what: 'forms from other sites are rejected by their headers',
    attack: 57,
    removals: [
      {
        text: 'this.#checkOrigin(context.headers);\n    if (form.isRepeated',
        instead: 'if (form.isRepeated',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-57)',
  },
  {
    name: 'form-expiry',
    what: 'a form expires an hour after it was rendered',
    attack: 57,
    removals: [{ text: "return cookie.exp > this.#now() ? 'valid' : 'expired';", instead: "return 'valid';" }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-57)',
  },
  {
    name: 'logout-proof',
    what: 'a client can sign out without a question only the session of its ID token',
    attack: 67,
    removals: [{ text: '      and hinted.user_session_id = viewer_session.id\n' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-67)',
  },
  {
    name: 'logout-address',
    what: 'after a sign-out, only registered URIs of the client are redirected to',
    attack: 67,
    removals: [{ text: '  return redirectUriMatches(owner, uri);', instead: '  return true;' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-67)',
  },
  {
    name: 'idle-session',
    what: 'a browser session that was unused for too long is rejected',
    attack: 66,
    removals: [
      { text: 'idleSeconds: config.retention.unusedBrowserSessionsSeconds', instead: 'idleSeconds: undefined' },
    ],
    test: 'src/features/index-page/index-page.test.ts',
    testName: '(S-66)',
  },
  {
    name: 'form-session',
    what: 'a form token is bound to one browser session',
    attack: 62,
    removals: [
      {
        text: 'cookie.session !== currentSession(context.cookies)',
        instead: 'false',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-62)',
  },
  {
    name: 'doubled-cookies',
    what: 'if two cookies with the same name are valid, neither is used',
    attack: 62,
    removals: [
      {
        text: 'if (opened.length === 1) return opened[0]?.document;',
        instead: 'if (opened.length > 0) return opened[0]?.document;',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-62)',
  },
  {
    name: 'session-key-rotation',
    what: "confirming the user's identity rotates the session key",
    attack: 61,
    removals: [
      {
        text: 'key_hash = case when s.key_hash = :keyHash::bytea then :newKeyHash::bytea else s.key_hash end,',
        instead: 'key_hash = case when :newKeyHash::bytea is null then s.key_hash else s.key_hash end,',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-61)',
  },
  {
    name: 'previous-session-key',
    what: 'the previous session key is valid for only half a minute',
    attack: 61,
    removals: [{ text: '    isRecent(rotatedAt, PREVIOUS_KEY_FITS_MS - 1, now) &&\n' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-61)',
  },
  {
    name: 'embedding',
    what: 'a page is not served to an image, script or frame request',
    attack: 68,
    removals: [{ text: "  throw new LatchkeyError('embedding_refused');\n" }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-68)',
  },
];
