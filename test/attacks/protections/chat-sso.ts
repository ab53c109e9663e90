/** Single sign-on of chat clients, and its login tokens. */
import type { Protection } from './protection.ts';

export const CHAT_SSO: readonly Protection[] = [
  {
    name: 'sso-redirect-scheme',
    what: 'login tokens are not sent to URLs that browsers execute or display',
    attack: 70,
    removals: [
      { text: 'if (REFUSED_SCHEMES.has(scheme)) return `redirectUrl', instead: 'if (false) return `redirectUrl' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: '(S-70)',
  },
  {
    name: 'sso-redirect-user-info',
    what: 'login tokens are not sent to URLs with user info before the host',
    attack: 70,
    removals: [
      { text: "if (authority?.includes('@')) return 'redirectUrl", instead: "if (false) return 'redirectUrl" },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: '(S-70)',
  },
  {
    name: 'sso-allowed-origin',
    what: 'the redirect host must be one that the operator allows',
    attack: 70,
    removals: [{ text: '  if (url.host !== allowed.host) return false;\n' }],
    test: 'src/protocol/chat/sso-redirect.test.ts',
    testName: 'rejects ',
  },
  {
    name: 'sso-allowed-segment',
    what: 'a path is only allowed below a whole segment of an allowed path',
    attack: 70,
    removals: [{ text: "path.startsWith(base.endsWith('/') ?", instead: "path.startsWith(base.endsWith('') ?" }],
    test: 'src/protocol/chat/sso-redirect.test.ts',
    testName: 'rejects ',
  },
  {
    name: 'sso-pending-of-address',
    what: 'an address may have at most a hundred single sign-ons without consent',
    attack: 179,
    removals: [{ text: 'const MAX_PENDING = 100;', instead: 'const MAX_PENDING = 1000;' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'allows one address a hundred unapproved ones at most',
  },
  {
    name: 'sso-one-token',
    what: 'the update that creates a login token checks that the sign-on is pending',
    attack: 72,
    removals: [
      { text: 'where l.id = :id::uuid and ${ssoLogin', instead: 'where l.id = :id::uuid or false and ${ssoLogin' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'twice concurrently: creates one token',
  },
  {
    name: 'sso-form-age',
    what: 'a consent page is valid for ten minutes',
    attack: 72,
    removals: [{ text: 'now - Number(opened.toString()) <= FORM_LIFETIME_MS', instead: 'true' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'after ten minutes',
  },
  {
    name: 'sso-form-of-sign-on',
    what: 'the render time of a page is bound to the sign-on of that page',
    attack: 72,
    removals: [
      {
        text: 'keyRing.seal(RENDERED_LABEL, String(deps.clock.now()), login.id)',
        instead: 'keyRing.seal(RENDERED_LABEL, String(deps.clock.now()))',
      },
      { text: 'keyRing.open(RENDERED_LABEL, sealed, login.id)', instead: 'keyRing.open(RENDERED_LABEL, sealed)' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'of another sign-on',
  },
  {
    name: 'sso-no-referrer',
    what: 'the redirect with a login token sends no referrer',
    attack: 71,
    removals: [{ text: "token), { 'referrer-policy': 'no-referrer' });", instead: 'token));' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'sends a token to the client, only in its query',
  },
  {
    name: 'sso-locks-account',
    what: 'completion locks the account and the browser session against concurrent locks and sign-outs',
    attack: 102,
    removals: [
      {
        text: '       for share\n  ), sign_in as materialized (\n    select id from user_sessions\n',
        instead: '  ), sign_in as materialized (\n    select id from user_sessions\n',
      },
      { text: '       for share\n  ), agreed as (', instead: '  ), agreed as (' },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of its completion',
  },
  {
    name: 'login-token-once',
    what: 'a login token can be exchanged once',
    attack: 71,
    removals: [
      {
        text: '{ssoLoginIsUnexchanged(login)} and coalesce(',
        instead: '{ssoLoginIsUnexchanged(login)} or true) and (coalesce(',
      },
    ],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'creates one session and one homeserver device for twenty concurrent requests',
  },
  {
    name: 'login-token-lifetime',
    what: 'a login token is valid for 30 seconds',
    attack: 71,
    removals: [{ text: '{login}.fulfilled_at >= $', instead: '{login}.fulfilled_at is not null or now() > $' }],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'expires the token after 30 seconds',
  },
  {
    name: 'login-token-replay',
    what: 'reusing a login token ends the session that it created',
    attack: 71,
    removals: [{ text: 'const RESENT_SECONDS = 20;', instead: 'const RESENT_SECONDS = 20_000;' }],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'ends the session when the token is resent later, and deletes the homeserver device',
  },
  {
    name: 'login-token-of-browser-session',
    what: 'a login token is valid only while its browser session is active',
    attack: 102,
    removals: [
      { text: "'l', ':validSince::timestamptz')} and $", instead: "'l', ':validSince::timestamptz')} or false and $" },
      {
        text: 'and b.user_id = (select person.user_id from person) and $',
        instead: 'and b.user_id = (select person.user_id from person) or false and $',
      },
    ],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'rejects the token once its user has signed out of the browser',
  },
  {
    name: 'login-token-sign-out-in-the-middle',
    what: 'the exchange checks the browser session when it writes',
    attack: 102,
    removals: [
      {
        text: 'and b.user_id = (select person.user_id from person) and $',
        instead: 'and b.user_id = (select person.user_id from person) or false and $',
      },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the exchange of its token',
  },
];
