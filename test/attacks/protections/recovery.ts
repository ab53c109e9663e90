/** Account recovery through a link. */
import type { Protection } from './protection.ts';

export const RECOVERY: readonly Protection[] = [
  {
    name: 'freed-addresses',
    what: 'flows started with an address do not outlive its account',
    attack: 119,
    removals: [
      { text: 'await deleteOpenRegistrations(transaction, freedEmailKeys);' },
      { text: 'await deletePendingRecoveries(transaction, freedEmailKeys);' },
    ],
    test: 'src/cli/accounts.test.ts',
    testName: "deactivation deletes what others started with the account's addresses (operations 6.3)",
  },
  {
    name: 'erased-display-name',
    what: 'erasing an account erases the display name',
    attack: 133,
    removals: [{ text: 'await transaction.execute(eraseFacts, { userId, now: new Date(now) });' }],
    test: 'src/cli/lock-user.test.ts',
    testName: '(S-133)',
  },
  {
    name: 'recovery-ticket-once',
    what: 'a recovery ticket sets one password, regardless of concurrent requests',
    attack: 100,
    removals: [{ text: `\n       and \${recoverySessionIsOpen('s')} and \${passwordIsUnchanged('t')}` }],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'sets the password once for eight requests with one ticket on two instances',
  },
  {
    name: 'recovery-ticket-lifetime',
    what: 'a recovery ticket is valid for ten minutes',
    attack: 119,
    removals: [
      {
        text: 'const isExpired = !isRecent(row.created_at, ticketTtlSeconds * 1000 - 1, now);',
        instead: 'const isExpired = false;',
      },
    ],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'works for ten minutes (S-119)',
  },
  {
    name: 'recovery-disabled',
    what: 'while recovery is disabled, only links of administrators set passwords',
    attack: 119,
    removals: [{ text: "if (!isAllowed) return { status: 'PASSWORD_CHANGES_DISABLED' };" }],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'switched off it says so, and sends no mail',
  },
  {
    name: 'recovery-ends-browsers',
    what: 'a recovery ends all browser sessions',
    attack: 119,
    removals: [
      {
        text: 'browsers = await signOut({ ...deps, database: transaction }, all);',
        instead: 'browsers = all ? 0 : 1;',
      },
    ],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'sets the password, ends all browser sessions and other tickets, and does not sign the user in',
  },
  {
    name: 'recovery-of-usable-accounts',
    what: 'a locked or deactivated account gets no recovery ticket',
    attack: 127,
    removals: [{ text: 'where account.is_usable and (account.password_id', instead: 'where (account.password_id' }],
    test: 'src/features/recovery/recovery.test.ts',
    testName: ': nothing',
  },
  {
    name: 'recovery-of-one-browser',
    what: 'the recovery progress page only works in the browser that requested it',
    attack: 83,
    removals: [{ text: 'id !== undefined && boundRecoveries(context).includes(id) ? id : undefined', instead: 'id' }],
    test: 'test/attacks/recovery.test.ts',
    testName: 'that of another browser get the same answer',
  },
  {
    name: 'recovery-mails-per-address',
    what: 'recovery emails are limited per email address, from any client address',
    attack: 94,
    removals: [
      {
        text: `{ key: \`recovery:address:\${unknownNameKey(keyRing, emailKey)}\`, limiter: recoveryLimits.perAddress },`,
      },
    ],
    test: 'src/features/recovery/recovery-mails.test.ts',
    testName: 'an address requested by many clients',
  },
  {
    name: 'recovery-ticket-looks',
    what: 'lookups of recovery tickets are limited per address',
    attack: 119,
    removals: [
      {
        text: "if (!taken.ok) return { kind: 'rate-limited', retryAfterSeconds: taken.retryAfterSeconds };",
      },
    ],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'allows twenty lookups a minute from one address, across all fields',
  },
  {
    name: 'recovery-signed-out',
    what: 'a signed-in user cannot use a recovery ticket, which may belong to another account',
    attack: 119,
    removals: [{ text: "if (caller.kind !== 'anonymous') throw refusal('FORBIDDEN', 'Unauthorized');" }],
    test: 'src/features/account-api/recover-password.test.ts',
    testName: 'is limited to signed-out users, and refuses cross-site requests',
  },
  {
    name: 'recovery-page-referrer',
    what: 'requests of the recovery page do not contain the ticket in their URL',
    attack: 120,
    removals: [{ text: "{ 'referrer-policy': 'no-referrer', 'cross-origin", instead: "{ 'cross-origin" }],
    test: 'src/features/account-area/account-area.test.ts',
    testName: 'keeps the ticket in its URL, out of subrequests and the log',
  },
];
