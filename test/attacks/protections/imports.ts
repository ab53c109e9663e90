/** Access that an import must not grant, and what it must not change (operations 3.9). */
import type { Protection } from './protection.ts';

const IMPORT = 'src/cli/import.test.ts';
const MAS = 'test/mas-import';

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
  {
    name: 'import-read-only',
    what: 'no statement can change the database that an import reads',
    attack: 'O-08',
    removals: [
      { text: "      await client.query('set default_transaction_read_only = on');\n" },
      {
        text: "'begin isolation level repeatable read read only');\n      await client.query(`set local datestyle",
        instead: "'begin isolation level repeatable read');\n      await client.query(`set local datestyle",
      },
    ],
    test: 'src/domain/import/source.test.ts',
    testName: 'a source refuses every write',
  },
  {
    name: 'import-mas-mark',
    what: 'the service does not start on a database after an import from MAS failed',
    attack: 'O-08',
    removals: [{ text: 'if (!dryRun) await markIncompleteImport(database, systemClock.now());' }],
    test: `${MAS}/failures.test.ts`,
    testName: 'because the disk is full',
  },
  {
    name: 'import-mas-token-hash',
    what: 'tokens from MAS are stored as hashes only',
    attack: 'O-03',
    removals: [
      { text: "return `sha256(convert_to(${token}, 'UTF8'))`;", instead: "return `convert_to(${token}, 'UTF8')`;" },
    ],
    test: `${MAS}/oauth.test.ts`,
    testName: 'stores no token in readable form',
  },
  {
    name: 'import-mas-cookie-once',
    what: 'the cookie of MAS continues a session once, so that a copy of it is worthless',
    attack: 'O-03',
    removals: [
      {
        text: 'delete from imported_browser_sessions i\n',
        instead: 'update imported_browser_sessions i set expires_at = i.expires_at\n',
      },
    ],
    test: `${MAS}/other.test.ts`,
    testName: 'continues its session once',
  },
  {
    name: 'import-mas-cookie-expiry',
    what: 'the cookie of MAS is ignored two weeks after the import',
    attack: 'O-03',
    removals: [
      {
        text: " and not ${importedSessionIsExpired('i', ':now::timestamptz')}\n",
        instead: ' and :now::timestamptz is not null\n',
      },
    ],
    test: `${MAS}/other.test.ts`,
    testName: 'after two weeks',
  },
  {
    name: 'import-mas-cookie-account',
    what: 'the cookie of MAS does not continue the session of a locked account, or a finished one',
    attack: 'O-03',
    removals: [
      {
        text: "where s.id = i.user_session_id and ${browserSessionIsLive('s')} and ${accountIsUsable('u')})",
        instead: 'where s.id = i.user_session_id)',
      },
    ],
    test: `${MAS}/other.test.ts`,
    testName: 'one of a locked account do not continue',
  },
  {
    name: 'import-mas-predecessor',
    what: 'the refresh token before the current one is refused once the current access token was used',
    attack: 38,
    removals: [{ text: '\n      and (n.id is null or n.first_used_at is null and a.first_used_at is null)' }],
    test: `${MAS}/oauth.test.ts`,
    testName: 'the former token is refused once the current access token was used here',
  },
  {
    name: 'import-mas-left-behind',
    what: 'of several imported refresh tokens of a session, only the first one that is used works',
    attack: 38,
    removals: [
      { text: "and o.id <> consumed.id and ${kind.refreshTokenIsLive('o')}", instead: 'and false' },
      {
        text: '${kind.sessionIsLive(clientVersion)} and s.refresh_family is null`',
        instead: '${kind.sessionIsLive(clientVersion)}`',
      },
      {
        text: 'join oauth2_sessions s on s.id = t.session_id and s.refresh_family is null\n     left join users',
        instead: 'join oauth2_sessions s on s.id = t.session_id\n     left join users',
      },
    ],
    test: `${MAS}/oauth.test.ts`,
    testName: 'token works, and then only that one',
  },
  {
    name: 'import-mas-redirect',
    what: 'a redirect URI that only a lenient parser accepts is refused for imported clients too',
    attack: 200,
    removals: [{ text: '  if (redirectUriProblem(requested) !== undefined) return false;\n' }],
    test: `${MAS}/oauth.test.ts`,
    testName: 'without the slash that MAS added',
  },
];
