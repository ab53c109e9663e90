/** Access that an import from Synapse must not grant (operations 3.9). */
import type { Protection } from './protection.ts';

const IMPORT = 'src/cli/import.test.ts';

export const IMPORTS: readonly Protection[] = [
  {
    name: 'import-no-puppets',
    what: "a token of an administrator that acts as another user does not become an administrator's token",
    attack: 'O-03',
    removals: [{ text: "const OWN = 'puppets_user_id is null'", instead: "const OWN = 'user_id is not null'" }],
    test: IMPORT,
    testName: 'skips tokens of administrators acting as another user: they would become the administrators’ own',
  },
  {
    name: 'import-superseded-tokens',
    what: 'a refresh token whose successor was used stays invalid',
    attack: 38,
    removals: [
      {
        text: 'where n.refresh_token_id = r.next_token_id and n.used)',
        instead: 'where n.refresh_token_id = r.next_token_id and n.used and false)',
      },
    ],
    test: IMPORT,
    testName: 'copies token pairs with expiry, the previous one until its successor was used, and no expired ones',
  },
  {
    name: 'import-unapproved',
    what: 'a user waiting for approval by an administrator is not admitted by the import',
    attack: 'O-04',
    removals: [{ text: 'coalesce(u.locked, false) or u.approved is false', instead: 'coalesce(u.locked, false)' }],
    test: IMPORT,
    testName: 'copies accounts with passwords, flags and names',
  },
  {
    name: 'import-incomplete',
    what: 'the service does not start on a database without its users, so that their names cannot be taken',
    attack: 'O-08',
    removals: [{ text: 'if (wants.mayBeIncomplete !== true) await requireCompleteImport(database);' }],
    test: IMPORT,
    testName: 'leaves only its marker, which prevents every start, and another run completes',
  },
];
