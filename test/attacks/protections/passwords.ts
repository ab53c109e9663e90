/** Password changes. */
import type { Protection } from './protection.ts';

export const PASSWORDS: readonly Protection[] = [
  {
    name: 'password-change-checked-password',
    what: 'a password is changed only if the verified one is still current',
    attack: 102,
    removals: [{ text: ' and p.id = :passwordId::uuid\n    for share', instead: '\n    for share' }],
    test: 'test/attacks/password-change.test.ts',
    testName: 'a password set by the command line meanwhile',
  },
  {
    name: 'password-change-other-browsers',
    what: 'changing the password ends other browser sessions',
    attack: 126,
    removals: [
      {
        text: 'replacement.endsOtherBrowsers ? await signOut(signOutDeps, others) : 0',
        instead: '0',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'ends the requested sessions, and never the current one',
  },
  {
    name: 'password-change-applications',
    what: 'changing the password ends client sessions if requested',
    attack: 126,
    removals: [
      {
        text: 'replacement.endsApplications\n    ? await endApplicationSessionsOfUser(',
        instead: '(() => 0)()\n    ? await endApplicationSessionsOfUser(',
      },
    ],
    test: 'test/attacks/password-change.test.ts',
    testName: 'invalidates every earlier token',
  },
  {
    name: 'password-change-own-session',
    what: 'changing the password keeps the current session',
    attack: 126,
    removals: [
      {
        text: 'or id = :sessionId::uuid) and id is distinct from :keptSessionId::uuid',
        instead: 'or id = :sessionId::uuid)',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'ends the requested sessions, and never the current one',
  },
  {
    name: 'password-change-new-password-rules',
    what: 'a new password must pass the registration rules',
    attack: 93,
    removals: [{ text: 'return await checkNewPassword(core.passwordRules, newPassword, words, asker);' }],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-93)',
  },
  {
    name: 'leaked-password-prefix',
    what: 'the leak check sends only five digits of the hash',
    attack: 93,
    removals: [{ text: 'await this.#ask(digest.slice(0, PREFIX_DIGITS))', instead: 'await this.#ask(digest)' }],
    test: 'src/domain/accounts/passwords/leaked-passwords.test.ts',
    testName: '(S-93)',
  },
  {
    name: 'leaked-password-refused',
    what: 'leaked passwords are rejected',
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
    what: 'leaked passwords are rejected in recovery',
    attack: 93,
    removals: [
      {
        text: 'return await checkNewPassword(passwordRules, newPassword, { ...owner, serviceName }, caller);',
      },
    ],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'keeps the ticket when the password is weak, and returns suggestions',
  },
  {
    name: 'graphql-password-of-others',
    what: "the account API changes only the caller's password",
    attack: 128,
    removals: [
      {
        text: 'requireSelf(context, id);\n    const { newPassword } = input;',
        instead: 'const { newPassword } = input;',
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-128)',
  },
  {
    name: 'graphql-password-by-token',
    what: 'only administrators can omit the current password',
    attack: 122,
    removals: [
      {
        text: "if (reads === 'anybody' && caller.kind === 'oauth') return await setAsAdmin(",
        instead: "if (caller.kind === 'oauth') return await setAsAdmin(",
      },
    ],
    test: 'src/features/account-api/set-password.test.ts',
    testName: 'requires the current password from the user (S-122), and ends all browser sessions',
  },
  {
    name: 'graphql-one-guess',
    what: 'one document verifies one password',
    attack: 135,
    removals: [{ text: 'if (GUESSABLE.has(name)) this.#guesses += 1;' }],
    test: 'src/features/account-api/set-password.test.ts',
    testName: '(S-135)',
  },
];
