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
    what: 'nobody but its owner and administrators changes the display name of an account',
    attack: 128,
    removals: [{ text: "if (reads !== 'anybody' && reads !== user) throw unauthorized(caller);" }],
    test: DISPLAY_NAME,
    testName: 'is for oneself, and for administrators',
  },
  {
    name: 'name-of-chat-client-of-others',
    what: 'a chat client is named by its owner alone',
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
    what: 'a session of an application is named by its owner alone',
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
    what: 'other keys for the devices of a person are allowed by who signed in lately',
    attack: 123,
    removals: [{ text: "  requireRecentAuthentication(context, 'cross_signing_reset');\n" }],
    test: 'src/features/account-api/cross-signing-reset.test.ts',
    testName: '(account-graphql 2.5, S-123)',
  },
  {
    name: 'deactivation-confirmed',
    what: 'an account is ended by who proves to be its owner',
    attack: 123,
    removals: [
      {
        text: "const confirmation = await confirmPerson(context, password, 'account_deactivate');",
        instead: "const confirmation = password === '' ? await confirmPerson(context, '') : ({ ok: true } as const);",
      },
    ],
    test: DEACTIVATE,
    testName: '(S-123)',
  },
  {
    name: 'deactivation-ends-applications',
    what: 'the tokens of applications end with the account',
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
    what: 'who leaves takes the identities elsewhere along',
    attack: 133,
    removals: [{ text: 'if (isOwn || isErased) await unlinkAccount(transaction, user);' }],
    test: DEACTIVATE,
    testName: '(S-126)',
  },
  {
    name: 'deactivation-forgets-consents',
    what: 'what a person allowed ends with the account',
    attack: 126,
    removals: [{ text: 'await forgetConsentsOfUser(transaction, user);' }],
    test: DEACTIVATE,
    testName: '(S-126)',
  },
  {
    name: 'deactivation-in-browser-only',
    what: 'no token ends an account',
    attack: 128,
    removals: [
      {
        text: 'const { user } = requireBrowser(context);\n  if (!core.config.account.deactivationAllowed)',
        instead:
          "const { user } = context.caller.kind === 'anonymous' ? requireBrowser(context) : context.caller;\n  if (user === undefined) throw new Error('nobody');\n  if (!core.config.account.deactivationAllowed)",
      },
    ],
    test: DEACTIVATE,
    testName: '(S-128)',
  },
  {
    name: 'administration-by-administrators',
    what: 'no token but that of an administrator changes accounts',
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
    what: 'who has an account is told to administrators only',
    attack: 128,
    removals: [{ text: "  if (reads !== 'anybody') return undefined;\n" }],
    test: ADMINISTRATION,
    testName: '(S-128)',
  },
  {
    name: 'reactivation-homeserver-first',
    what: 'nobody is active here whom the homeserver does not let in',
    attack: 127,
    removals: [
      {
        text: 'if (told.ok) return await restore();',
        instead: "if (told.ok || told.reason !== 'refused') return await restore();",
      },
    ],
    test: ADMINISTRATION,
    testName: 'of a deactivated account has the homeserver do it first',
  },
  {
    name: 'sessions-by-administrators',
    what: 'no session is made for an account that is locked or deactivated',
    attack: 102,
    removals: [{ text: 'exists (select from account where is_usable)', instead: 'exists (select from account)' }],
    test: CREATE_SESSION,
    testName: 'locked or deactivated',
  },
];
