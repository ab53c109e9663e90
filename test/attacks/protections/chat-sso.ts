/** Single sign-on of chat clients, and its login tokens. */
import type { Protection } from './protection.ts';

export const CHAT_SSO: readonly Protection[] = [
  {
    name: 'sso-redirect-scheme',
    what: 'no token is sent to an address that a browser executes or shows',
    attack: 70,
    removals: [
      { text: 'if (REFUSED_SCHEMES.has(scheme)) return `redirectUrl', instead: 'if (false) return `redirectUrl' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: '(S-70)',
  },
  {
    name: 'sso-redirect-user-info',
    what: 'no token is sent to an address whose host comes behind a name',
    attack: 70,
    removals: [
      { text: "if (authority?.includes('@')) return 'redirectUrl", instead: "if (false) return 'redirectUrl" },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: '(S-70)',
  },
  {
    name: 'sso-allowed-origin',
    what: 'an address of another host is not among those that the operator allows',
    attack: 70,
    removals: [{ text: '  if (url.host !== allowed.host) return false;\n' }],
    test: 'src/protocol/chat/sso-redirect.test.ts',
    testName: 'refuses ',
  },
  {
    name: 'sso-allowed-segment',
    what: 'a path that only begins like an allowed one is not below it',
    attack: 70,
    removals: [{ text: "path.startsWith(base.endsWith('/') ?", instead: "path.startsWith(base.endsWith('') ?" }],
    test: 'src/protocol/chat/sso-redirect.test.ts',
    testName: 'refuses ',
  },
  {
    name: 'sso-pending-of-address',
    what: 'an address has a hundred single sign-ons at most that nobody has agreed to',
    attack: 179,
    removals: [{ text: 'const MAX_PENDING = 100;', instead: 'const MAX_PENDING = 1000;' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'a hundred at most',
  },
  {
    name: 'sso-one-token',
    what: 'the update that makes a login token finds the sign-on pending',
    attack: 72,
    removals: [
      { text: 'where l.id = :id::uuid and ${ssoLogin', instead: 'where l.id = :id::uuid or false and ${ssoLogin' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'twice at the same moment',
  },
  {
    name: 'sso-form-age',
    what: 'a page that asks is good for ten minutes',
    attack: 72,
    removals: [{ text: 'now - Number(opened.toString()) <= FORM_LIFETIME_MS', instead: 'true' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'after ten minutes',
  },
  {
    name: 'sso-form-of-sign-on',
    what: 'the time at which a page was made counts for the sign-on of that page',
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
    what: 'the redirect with a login token tells its own address to nobody',
    attack: 71,
    removals: [{ text: "token), { 'referrer-policy': 'no-referrer' });", instead: 'token));' }],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'in its query and nowhere else',
  },
  {
    name: 'sso-locks-account',
    what: 'completion locks the account and the browser session against a lock or sign-out in the middle',
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
    what: 'a login token is exchanged once',
    attack: 71,
    removals: [
      {
        text: '{ssoLoginIsUnexchanged(login)} and coalesce(',
        instead: '{ssoLoginIsUnexchanged(login)} or true) and (coalesce(',
      },
    ],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'twenty at the same moment',
  },
  {
    name: 'login-token-lifetime',
    what: 'a login token is good for 30 seconds',
    attack: 71,
    removals: [{ text: '{login}.fulfilled_at >= $', instead: '{login}.fulfilled_at is not null or now() > $' }],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'lives for 30 seconds',
  },
  {
    name: 'login-token-replay',
    what: 'a login token that comes back ends the session that it led to',
    attack: 71,
    removals: [{ text: 'const RESENT_SECONDS = 20;', instead: 'const RESENT_SECONDS = 20_000;' }],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'comes back later ends the session',
  },
  {
    name: 'login-token-of-browser-session',
    what: 'a login token is good as long as the browser session that it was made in',
    attack: 102,
    removals: [
      { text: "'l', ':validSince::timestamptz')} and $", instead: "'l', ':validSince::timestamptz')} or false and $" },
      {
        text: 'and b.user_id = (select person.user_id from person) and $',
        instead: 'and b.user_id = (select person.user_id from person) or false and $',
      },
    ],
    test: 'src/features/chat-compat/login-with-token.test.ts',
    testName: 'is worth nothing once',
  },
  {
    name: 'login-token-sign-out-in-the-middle',
    what: 'an exchange reads the browser session once more when it writes',
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
