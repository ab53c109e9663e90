/** The admin API. */
import type { Protection } from './protection.ts';

const TEST = 'test/attacks/admin-api.test.ts';

const MATRIX = 'test/attacks/admin-matrix.test.ts';

const PERSONAL = 'src/features/admin-api/personal-sessions.test.ts';

const CHANGES = 'src/features/admin-api/audit-of-changes.test.ts';

export const ADMIN_API: readonly Protection[] = [
  {
    name: 'client-members',
    what: 'a change of a client assigns only known members',
    attack: 131,
    removals: [{ text: "  if (unknown !== undefined) throw invalidMember([unknown], 'unknown member');\n" }],
    test: 'src/features/admin-api/client-changes.test.ts',
    testName: 'never assigns',
  },
  {
    name: 'audit-of-changes',
    what: 'a change by an administrator is stored with its event, or not at all',
    attack: 202,
    removals: [{ text: 'await record(transaction, done);\n      return done;', instead: 'return done;' }],
    test: CHANGES,
    testName: 'changes nothing if its event cannot be stored, and is recorded otherwise',
  },
  {
    name: 'configuration-masked',
    what: 'the configuration that administrators see contains no secret',
    attack: 206,
    removals: [{ text: 'return options.showSecrets ? plain(node) : REDACTED;', instead: 'return plain(node);' }],
    test: 'src/features/admin-api/configuration.test.ts',
    testName: 'no secret of the configuration is in the response or in the log',
  },
  {
    name: 'configuration-masked-below',
    what: 'a secret in a list or section of the configuration is masked as well',
    attack: 206,
    removals: [
      {
        text: 'return node.items.map((item) => dumped(item, shape.element, options));',
        instead: 'return node.items.map(plain);',
      },
    ],
    test: 'src/config/reference/effective.test.ts',
    testName: 'contains no value of any key that the schema declares a secret',
  },
  {
    name: 'audit-csv-formula',
    what: 'an export of audit events contains no spreadsheet formula',
    attack: 189,
    removals: [{ text: "FORMULA.test(text) ? `'${text}` : text", instead: 'text' }],
    test: 'src/cli/list-audit-events.test.ts',
    testName: 'exports CSV in which no cell is a formula or has a control character',
  },
  {
    name: 'export-one-at-a-time',
    what: 'a caller runs one export at a time',
    attack: 203,
    removals: [{ text: 'signal.aborted || exporting.has(caller)', instead: 'signal.aborted' }],
    test: 'src/features/admin-api/audit-events.test.ts',
    testName: 'is one at a time for each caller, until the client leaves',
  },
  {
    name: 'streams-wait-for-readers',
    what: 'a streamed response holds one part in memory, however slowly the client reads',
    attack: 203,
    removals: [{ text: 'await slices.write(slice);', instead: 'void slices.write(slice);' }],
    test: 'src/platform/http/stream-body.test.ts',
    testName: 'is read as fast as the client takes it',
  },
  {
    name: 'streams-limited',
    what: 'a streamed response takes at most ten minutes',
    attack: 203,
    removals: [{ text: "if (performance.now() > exchange.deadline) return 'timeout';" }],
    test: 'src/platform/http/stream-body.test.ts',
    testName: 'takes at most ten minutes',
  },
  {
    name: 'streams-cut-off',
    what: 'a streamed response that fails is not taken for complete',
    attack: 203,
    removals: [
      {
        text: "if (outcome !== 'complete') exchange.connection.abandon(exchange.response);",
        instead: "if (outcome !== 'complete') exchange.response.end();",
      },
    ],
    test: 'src/platform/http/stream-body.test.ts',
    testName: 'later is cut off, so that HTTP/',
  },
  {
    name: 'audit-actions-hidden',
    what: "users do not see events that contain an administrator's address",
    attack: 202,
    removals: [
      { text: "const IS_FOR_USERS = `e.kind <> '${ADMIN_ACTION}'`;", instead: 'const IS_FOR_USERS = `true`;' },
    ],
    test: 'src/features/data-export/data-export.test.ts',
    testName: "has no actions of administrators, which contain the administrator's address",
  },
  {
    name: 'personal-token-rights',
    what: 'a personal token has admin rights while its account and its owner have them',
    attack: 129,
    removals: [
      {
        text: 'return mayAdminister ? scope : scope.filter((name) => !scopeRules.isAdmin(name));',
        instead: 'return mayAdminister || true ? scope : scope.filter((name) => !scopeRules.isAdmin(name));',
      },
    ],
    test: PERSONAL,
    testName: 'while account and owner have the right',
  },
  {
    name: 'personal-token-owner',
    what: 'only the owner of a personal session can rotate its token',
    attack: 128,
    removals: [{ text: "if (owning !== toUuid(owner.id)) return { ok: false, reason: 'foreign' };" }],
    test: PERSONAL,
    testName: 'is refused to other clients, for ended sessions, and with an invalid body',
  },
  {
    name: 'personal-token-lock',
    what: 'a personal token of a locked account is inactive at introspection by the homeserver',
    attack: 127,
    removals: [
      {
        text: 'const presented = { tokenHash, client, mayBeLocked: false, rights',
        instead: 'const presented = { tokenHash, client, mayBeLocked: true, rights',
      },
    ],
    test: PERSONAL,
    testName: 'is introspected with one statement, in both scope spellings, as the account it acts as',
  },
  {
    name: 'personal-token-replaced',
    what: 'rotating the token of a personal session revokes the previous one',
    attack: 126,
    removals: [{ text: 'for update of s`,\n);\n\nconst replace', instead: '`,\n);\n\nconst replace' }],
    test: PERSONAL,
    testName: 'issues one token for twenty concurrent requests',
  },
  {
    name: 'personal-token-kill',
    what: 'ending all sessions of an account revokes its personal sessions',
    attack: 126,
    removals: [{ text: "endsPersonal: kinds.has('personal')", instead: 'endsPersonal: false' }],
    test: PERSONAL,
    testName: 'with the other sessions of the account',
  },
  {
    name: 'personal-token-deactivation',
    what: 'a deactivation revokes the personal sessions of an account and those that it owns',
    attack: 126,
    removals: [
      {
        text: 'const personalSessions = await revokePersonalSessionsOfUser(transaction, user, options);\n  await forget',
        instead: 'const personalSessions = options.syncsDevices ? 1 : 0;\n  await forget',
      },
    ],
    test: PERSONAL,
    testName: 'with the deactivation of the account',
  },
  {
    name: 'admin-scope-asked',
    what: 'the admin API requires its scope',
    attack: 129,
    removals: [
      {
        text: "if (!scope.some((name) => core.scopeRules.classify(name) === 'admin')) {",
        instead: 'if (scope === undefined) {',
      },
    ],
    test: TEST,
    testName: 'refused at every route, before any record is read',
  },
  {
    name: 'admin-finished-session',
    what: 'the admin API rejects tokens of ended sessions',
    attack: 129,
    removals: [
      {
        text: "const SESSION_IS_LIVE = `${oauthSessionIsLive('s')} and ${clientIsEnabled('c')} and",
        instead: "const SESSION_IS_LIVE = `${clientIsEnabled('c')} and",
      },
    ],
    test: MATRIX,
    testName: 'a token of a finished session',
  },
  {
    name: 'admin-dead-tokens',
    what: 'the admin API rejects expired and revoked tokens',
    attack: 129,
    removals: [
      {
        text: "${accessTokenIsLive('t', ':now::timestamptz')} and ${SESSION_IS_LIVE} as is_live,\n          ${CALLER",
        instead: '${SESSION_IS_LIVE} as is_live,\n          ${CALLER',
      },
    ],
    test: MATRIX,
    testName: 'an expired token',
  },
  {
    name: 'admin-locked-people',
    what: 'the admin API rejects tokens of locked and deactivated users',
    attack: 129,
    removals: [
      {
        text: "sessionUserIsUsable('s', 'u')}`;\n\nconst SESSION_JOINS",
        instead: "oauthSessionIsLive('s')}`;\n\nconst SESSION_JOINS",
      },
    ],
    test: MATRIX,
    testName: 'a token of a person whose',
  },
  {
    name: 'admin-personal-owner',
    what: 'the admin API rejects personal tokens whose owner is locked or deactivated',
    attack: 129,
    removals: [
      { text: "            and ${ownerIsUsable('s', 'o', 'c')} as is_live,", instead: '            as is_live,' },
    ],
    test: MATRIX,
    testName: 'whose owner is locked',
  },
  {
    name: 'admin-personal-actor',
    what: 'the admin API rejects personal tokens whose actor is deactivated',
    attack: 129,
    removals: [
      {
        text: "(:mayBeLocked::boolean and not (${accountIsDeactivated('u')}))",
        instead: ':mayBeLocked::boolean',
      },
    ],
    test: MATRIX,
    testName: 'whose actor is deactivated',
  },
  {
    name: 'admin-personal-revoked',
    what: 'the admin API rejects personal tokens of revoked sessions',
    attack: 129,
    removals: [{ text: ":now::timestamptz')} and ${personalSessionIsLive('s')}\n", instead: ":now::timestamptz')}\n" }],
    test: MATRIX,
    testName: 'that is revoked',
  },
  {
    name: 'admin-personal-expired',
    what: 'the admin API rejects expired personal tokens',
    attack: 129,
    removals: [{ text: "${personalTokenIsLive('t', ':now::timestamptz')} and " }],
    test: MATRIX,
    testName: 'an expired personal token',
  },
  {
    name: 'admin-one-authorization',
    what: 'a request with several tokens is rejected',
    attack: 129,
    removals: [
      {
        text: "if (context.isAuthorizationRepeated) throw invalidToken('more than one Authorization header', false);",
      },
    ],
    test: MATRIX,
    testName: 'two headers',
  },
  {
    name: 'admin-bound-tokens',
    what: 'the admin API and the account API accept a key-bound token only with a proof of its key',
    attack: 129,
    removals: [
      {
        text: 'if (bound === this.#key) return true;',
        instead: 'if (bound !== null) return true;',
      },
    ],
    test: 'test/attacks/dpop-at-apis.test.ts',
    testName: 'is refused as a bearer token',
  },
  {
    name: 'admin-failures-counted',
    what: 'wrong tokens at the admin API are counted per address',
    attack: 129,
    removals: [
      {
        text: "name: 'admin-token', limiter, address: clientAddress",
        instead: "name: 'admin-token', limiter: { burst: 1_000_000, perSecond: 1 }, address: clientAddress",
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'rate limits invalid tokens by IP address, and still accepts valid ones',
  },
  {
    name: 'admin-policy-data-in-force',
    what: 'policy data is in effect when the admin API responds',
    attack: 178,
    removals: [{ text: 'core.policy.adopt(toUuid(id), judged.data);' }],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'applies from the next request to clients, users, email addresses and requesters',
  },
  {
    name: 'admin-policy-data-judged',
    what: 'invalid policy data is not stored',
    attack: 178,
    removals: [
      {
        text: 'if (!judged.ok) {\n        const at',
        instead: 'if (!judged.ok && data === undefined) {\n        const at',
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'is rejected with a pointer to the error:',
  },
  {
    name: 'policy-data-conflict',
    what: 'a change of the policy data that is based on an older version is refused',
    attack: 207,
    removals: [
      {
        text: 'if (expected !== undefined && !isExpected(latest, expected)) return { ok: false, latest };',
        instead: 'if (expected !== undefined && isExpected(latest, [])) return { ok: false, latest };',
      },
    ],
    test: 'src/features/admin-api/policy-data.test.ts',
    testName: 'of twenty changes that are based on the same version, one is stored',
  },
  {
    name: 'policy-data-conflict-locked',
    what: 'a change of the policy data waits for one that is being stored',
    attack: 207,
    removals: [
      {
        text: '    await transaction.execute(lockPolicyData, {});\n',
        instead: '    if (data === undefined) await transaction.execute(lockPolicyData, {});\n',
      },
    ],
    test: 'src/features/admin-api/policy-data.test.ts',
    testName: 'a change waits for one that is being stored, and is refused if that one is new',
  },
  {
    name: 'admin-link-owned',
    what: 'an identity linked to one account cannot be linked to another',
    attack: 128,
    removals: [
      {
        text: 'human_account_name = coalesce(excluded.human_account_name, l.human_account_name)\n    where l.user_id is null',
        instead: 'human_account_name = coalesce(excluded.human_account_name, l.human_account_name)',
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'can be linked to accounts, listed and deleted, with a notification to the user',
  },
  {
    name: 'admin-static-client-kept',
    what: 'configured clients cannot be deleted through the admin API',
    attack: 45,
    removals: [{ text: "if (kind === 'static' || kind === 'builtin') return kind;" }],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'deletes a dynamically registered client, but not a configured one',
  },
  {
    name: 'admin-search-escaped',
    what: 'wildcards in a search of the admin API are matched literally',
    attack: 162,
    removals: [{ text: ".replace(/[\\\\%_]/g, '\\\\$&')" }],
    test: TEST,
    testName: 'wildcard characters match literally',
  },
];
