import type { Protection } from './protection.ts';

const SIGN_IN = 'src/features/second-factor/second-factor.test.ts';

/** The step between the first factor and the session. */
export const SECOND_FACTORS: readonly Protection[] = [
  {
    name: 'second-factor-before-session',
    what: 'a password alone does not start a session if a second factor is required',
    attack: 90,
    removals: [
      {
        text: "${insertSession('proven.user_id')}\n    from proven cross join due where due.factor is null",
        instead: "${insertSession('proven.user_id')}\n    from proven cross join due",
      },
    ],
    test: SIGN_IN,
    testName: 'leads to the code: no session, no event, no requester, no known browser',
  },
  {
    name: 'second-factor-on-renewal',
    what: 'one factor only renews a session if no second factor is required, whatever the first one was',
    attack: 90,
    removals: [
      {
        text: 'select ${verified}.user_id from ${verified} cross join due where due.factor is null',
        instead: 'select ${verified}.user_id from ${verified} cross join due',
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'also requires a code from users with one-time codes: the provider alone renews nothing',
  },
  {
    name: 'upstream-fresh-authentication',
    what: 'a provider that does not report the authentication time proves nothing about the current user',
    attack: 123,
    removals: [{ text: "return reauthentication === 'prompt';\n  if (typeof", instead: 'return true;\n  if (typeof' }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'rejects a provider that',
  },
  {
    name: 'second-factor-attempts',
    what: 'five wrong codes end a pending sign-in',
    attack: 90,
    removals: [{ text: 'const MAX_FAILED_ATTEMPTS = 5;', instead: 'const MAX_FAILED_ATTEMPTS = 50;' }],
    test: SIGN_IN,
    testName: 'end the sign-in after the fifth wrong code, despite a later right one',
  },
  {
    name: 'second-factor-password-stands',
    what: 'a pending sign-in is invalid once its password is changed',
    attack: 90,
    removals: [
      { text: 'where exists (select from held_password) or exists (select from held_link)' },
      {
        text: "where l.id = :id::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')} and ${firstFactorStands('l')}`,\n);\n\n/**\n * Finds an open pending login",
        instead:
          "where l.id = :id::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')}`,\n);\n\n/**\n * Finds an open pending login",
      },
    ],
    test: SIGN_IN,
    testName: 'after the password was changed, although the code is right',
  },
  {
    name: 'second-factor-before-link',
    what: 'linking an identity by username requires the second factor of the owner',
    attack: 90,
    removals: [{ text: "${linkByNameCtes('opened')}", instead: "${linkByNameCtes('consumed')}" }],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: "is linked only with the owner's code",
  },
  {
    name: 'second-factor-trust-after-passkey',
    what: 'removing a passkey revokes the trust in browsers',
    attack: 90,
    removals: [{ text: 'await endTrust(transaction, removal.userId);' }],
    test: SIGN_IN,
    testName: 'the removal of a passkey',
  },
  {
    name: 'second-factor-trust-after-codes',
    what: 'new recovery codes revoke the trust in browsers',
    attack: 90,
    removals: [{ text: 'newer.created_at > trusted.created_at', instead: 'newer.created_at is null' }],
    test: SIGN_IN,
    testName: 'other recovery codes',
  },
  {
    name: 'second-factor-cookie-once',
    what: 'a completed pending sign-in is invalid in another browser with its cookie',
    attack: 90,
    removals: [
      {
        text: 'return `(${login}.completed_at is null and ${login}.expires_at > ${now})`;',
        instead: 'return `(${login}.expires_at > ${now})`;',
      },
    ],
    test: SIGN_IN,
    testName: 'by planting cookies in the browser: after the code they are worthless elsewhere',
  },
  {
    name: 'second-factor-on-reauth',
    what: 'a password alone does not confirm the identity of a user with a second factor',
    attack: 90,
    removals: [
      {
        text: 'select ${verified}.user_id from ${verified} cross join due where due.factor is null',
        instead: 'select ${verified}.user_id from ${verified}',
      },
    ],
    test: SIGN_IN,
    testName: 'requires a code after the password: the password alone does not renew the session',
  },
  {
    name: 'second-factor-of-session',
    what: 'a code only renews the session in which the password was entered',
    attack: 90,
    removals: [
      {
        text: "if (purpose === 'reauth' && !(isActive && viewer.session.id === pending.sessionId)) {",
        instead: 'if (false) {',
      },
    ],
    test: SIGN_IN,
    testName: 'is bound to one session: neither another session nor a sign-in accepts the code',
  },
  {
    name: 'second-factor-chat-client',
    what: 'a chat client cannot sign in with a password alone if a second factor is required',
    attack: 90,
    removals: [{ text: "`not ${furtherFactorIsDue(':userId::uuid')}`", instead: "'true'" }],
    test: 'src/features/chat-compat/login.test.ts',
    testName: 'is refused with a message that refers to the browser, while a wrong password is rejected as usual',
  },
];
