import { OWNER_OF_ROWS, type Protection } from './protection.ts';

const EXPORT = 'src/features/data-export/data-export.test.ts';

/** Data exports of accounts. */
export const DATA_EXPORT: readonly Protection[] = [
  {
    name: 'data-export-of-others',
    what: 'an archive can only be found and downloaded by its user',
    attack: 128,
    removals: [
      OWNER_OF_ROWS,
      { text: 'where e.id = :id::uuid and e.user_id = :userId::uuid and $', instead: 'where e.id = :id::uuid and $' },
    ],
    test: EXPORT,
    testName: '(S-128)',
  },
  {
    name: 'data-export-start-reauth',
    what: 'starting an export requires a recent sign-in',
    attack: 123,
    removals: [
      { text: 'requireRecentAuthentication(context);\n    const { language }', instead: 'const { language }' },
    ],
    test: EXPORT,
    testName: 'requires reauthentication after a while',
  },
  {
    name: 'data-export-download-reauth',
    what: 'downloading an archive requires a recent sign-in',
    attack: 123,
    removals: [
      {
        text: '!isRecent(session.authenticatedAt, maxAge * 1000, clock.now())) {\n    return redirect',
        instead: 'clock.now() < 0) {\n    return redirect',
      },
    ],
    test: EXPORT,
    testName: 'requires reauthentication after an old sign-in',
  },
  {
    name: 'data-export-once',
    what: 'concurrent starts create one export',
    attack: 100,
    removals: [
      {
        text: '      if ((await transaction.first(lockAccount, { userId })) === undefined) return undefined;\n      const now',
        instead: '      const now',
      },
    ],
    test: EXPORT,
    testName: 'waits for a concurrent start in another process, and returns its export',
  },
  {
    name: 'data-export-deactivated',
    what: 'archives are deleted with the account',
    attack: 133,
    removals: [
      {
        text: '  await deleteDataExports(transaction, user);\n  await deletePasskeys',
        instead: '  await deletePasskeys',
      },
    ],
    test: EXPORT,
    testName: 'is deleted with its account',
  },
];
