/** Password changes. */
import type { Protection } from './protection.ts';

export const PASSWORDS: readonly Protection[] = [
  {
    name: 'password-change-checked-password',
    what: 'a password is changed only while the one that was checked is still that of the account',
    attack: 102,
    removals: [{ text: ' and p.id = :passwordId::uuid\n    for share', instead: '\n    for share' }],
    test: 'test/attacks/password-change.test.ts',
    testName: 'a password that the command line sets in between',
  },
  {
    name: 'password-change-other-browsers',
    what: 'a change of the password signs other browsers out',
    attack: 126,
    removals: [
      {
        text: 'replacement.endsOtherBrowsers ? await signOut(signOutDeps, others) : 0',
        instead: '0',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'ends what was asked for, and never the own session',
  },
  {
    name: 'password-change-applications',
    what: 'a change of the password ends the sessions of applications where that was asked for',
    attack: 126,
    removals: [
      {
        text: 'replacement.endsApplications\n    ? await endApplicationSessionsOfUser(',
        instead: '(() => 0)()\n    ? await endApplicationSessionsOfUser(',
      },
    ],
    test: 'test/attacks/password-change.test.ts',
    testName: 'leaves no token of before',
  },
  {
    name: 'password-change-own-session',
    what: 'a change of the password leaves the session that it came from',
    attack: 126,
    removals: [
      {
        text: 'or id = :sessionId::uuid) and id is distinct from :keptSessionId::uuid',
        instead: 'or id = :sessionId::uuid)',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'ends what was asked for, and never the own session',
  },
  {
    name: 'password-change-new-password-rules',
    what: 'a new password has to pass the rules of registration',
    attack: 93,
    removals: [
      { text: 'return await judgePassword(passwordRulesOf(core), core.estimator, newPassword, words, asker);' },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-93)',
  },
  {
    name: 'leaked-password-prefix',
    what: 'of a new password only five digits of its hash are told to the service that knows leaked ones',
    attack: 93,
    removals: [{ text: 'await this.#ask(digest.slice(0, PREFIX_DIGITS))', instead: 'await this.#ask(digest)' }],
    test: 'src/domain/accounts/passwords/leaked-passwords.test.ts',
    testName: '(S-93)',
  },
  {
    name: 'leaked-password-refused',
    what: 'a password that is known from leaks is not accepted',
    attack: 93,
    removals: [
      {
        text: "return (await rules.leakedPasswords.has(password)) ? { problem: 'password_leaked' } : undefined;",
        instead: 'return undefined;',
      },
    ],
    test: 'src/domain/accounts/passwords/leaked-passwords.test.ts',
    testName: '(S-93)',
  },
  {
    name: 'recovery-new-password-rules',
    what: 'so has one that is set by a recovery mail',
    attack: 93,
    removals: [
      {
        text: 'return await judgePassword(passwordRules, estimator, newPassword, { ...owner, serviceName }, caller);',
      },
    ],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'a weak password leaves the ticket as it is',
  },
  {
    name: 'graphql-password-of-others',
    what: 'the API of accounts changes the password of the one who asks',
    attack: 128,
    removals: [
      {
        text: 'requireSelf(context, id);\n  const { newPassword } = input;',
        instead: 'const { newPassword } = input;',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-128)',
  },
  {
    name: 'graphql-password-by-token',
    what: 'only the token of an administrator stands in for the current password',
    attack: 122,
    removals: [
      {
        text: "if (reads === 'anybody' && caller.kind === 'oauth') return await setAsAdmin(",
        instead: "if (caller.kind === 'oauth') return await setAsAdmin(",
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'of the person needs the current password (S-122)',
  },
  {
    name: 'graphql-one-guess',
    what: 'one document tries one password',
    attack: 135,
    removals: [{ text: 'if (GUESSABLE.has(name)) this.#guesses += 1;' }],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-135)',
  },
];
