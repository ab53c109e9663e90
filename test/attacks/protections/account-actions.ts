import type { Protection } from './protection.ts';

const ADMINISTRATION = 'src/features/account-api/administration.test.ts';
const CREATE_SESSION = 'src/features/account-api/create-oauth2-session.test.ts';
const DEACTIVATE = 'src/features/account-api/deactivate-user.test.ts';
const NAMES = 'src/features/account-api/session-names.test.ts';
const DISPLAY_NAME = 'src/features/account-api/display-name.test.ts';

/** Actions that only the account's own user may take. */
export const ACCOUNT_ACTIONS: readonly Protection[] = [
  {
    name: 'display-name-of-others',
    what: 'only the user and administrators change the display name of an account',
    attack: 128,
    removals: [{ text: "if (reads !== 'anybody' && reads !== user) throw unauthorized(caller);" }],
    test: DISPLAY_NAME,
    testName: 'is limited to the user and administrators',
  },
  {
    name: 'name-of-chat-client-of-others',
    what: 'only the user names a session of a chat client',
    attack: 128,
    removals: [
      {
        text: 's.user_id = :owner::uuid)\n   returning s.user_id, u.username',
        instead: 'true)\n   returning s.user_id, u.username',
      },
    ],
    test: NAMES,
    testName: '(S-128)',
  },
  {
    name: 'name-of-application-of-others',
    what: 'only the user names a session of a client',
    attack: 128,
    removals: [
      {
        text: 's.user_id = :owner::uuid)\n    returning s.user_id, s.device_id',
        instead: 'true)\n    returning s.user_id, s.device_id',
      },
    ],
    test: NAMES,
    testName: '(S-128)',
  },
  {
    name: 'cross-signing-reset-freshness',
    what: 'a cross-signing reset requires a recent sign-in',
    attack: 123,
    removals: [{ text: "  requireRecentAuthentication(context, 'cross_signing_reset');\n" }],
    test: 'src/features/account-api/cross-signing-reset.test.ts',
    testName: '(account-graphql 2.5, S-123)',
  },
  {
    name: 'deactivation-confirmed',
    what: 'deactivating an account requires proof of its owner',
    attack: 123,
    removals: [
      {
        text: "const confirmation = await confirmIdentity(context, password, 'account_deactivate');",
        instead: "const confirmation = password === '' ? await confirmIdentity(context, '') : ({ ok: true } as const);",
      },
    ],
    test: DEACTIVATE,
    testName: '(S-123)',
  },
  {
    name: 'deactivation-ends-applications',
    what: 'client tokens end with the account',
    attack: 126,
    removals: [
      {
        text: 'const applications = await endApplicationSessionsOfUser(transaction, user, end);',
        instead: 'const applications = { oauth2Sessions: end.now * 0, compatSessions: 0 };',
      },
    ],
    test: DEACTIVATE,
    testName: '(S-126)',
  },
  {
    name: 'deactivation-frees-links',
    what: 'a deactivation removes linked identities',
    attack: 133,
    removals: [{ text: 'if (isOwn || isErased) await unlinkAccount(transaction, user);' }],
    test: DEACTIVATE,
    testName: '(S-126)',
  },
  {
    name: 'deactivation-forgets-consents',
    what: 'consents end with the account',
    attack: 126,
    removals: [{ text: 'await forgetConsentsOfUser(transaction, user);' }],
    test: DEACTIVATE,
    testName: '(S-126)',
  },
  {
    name: 'deactivation-in-browser-only',
    what: 'access tokens cannot deactivate an account',
    attack: 128,
    removals: [
      {
        text: 'const { user } = requireBrowser(context);\n    if (!core.config.account.deactivationAllowed)',
        instead:
          "const { user } = context.caller.kind === 'anonymous' ? requireBrowser(context) : context.caller;\n  if (user === undefined) throw new Error('nobody');\n  if (!core.config.account.deactivationAllowed)",
      },
    ],
    test: DEACTIVATE,
    testName: '(S-128)',
  },
  {
    name: 'administration-by-administrators',
    what: "only administrators' tokens change accounts",
    attack: 129,
    removals: [
      {
        text: "if (caller.kind !== 'oauth' || !caller.isAdmin) throw unauthorized(caller);",
        instead: "if (caller.kind !== 'oauth') throw unauthorized(caller);",
      },
    ],
    test: ADMINISTRATION,
    testName: '(S-129)',
  },
  {
    name: 'names-of-accounts',
    what: 'only administrators can look up other accounts',
    attack: 128,
    removals: [{ text: "  if (reads !== 'anybody') return undefined;\n" }],
    test: ADMINISTRATION,
    testName: '(S-128)',
  },
  {
    name: 'reactivation-homeserver-first',
    what: 'an account is not active unless the homeserver accepts it',
    attack: 127,
    removals: [
      {
        text: 'if (result.ok) return await restore();',
        instead: "if (result.ok || result.reason !== 'refused') return await restore();",
      },
    ],
    test: ADMINISTRATION,
    testName: 'reactivates a deactivated account at the homeserver first',
  },
  {
    name: 'sessions-by-administrators',
    what: 'no session is created for a locked or deactivated account',
    attack: 102,
    removals: [{ text: 'and account.is_usable and exists', instead: 'and exists' }],
    test: CREATE_SESSION,
    testName: 'rejects unknown, locked and deactivated accounts',
  },
];
