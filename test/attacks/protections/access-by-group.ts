/** Access by group, in every flow. */
import type { Protection } from './protection.ts';

const TEST = 'test/attacks/access-by-group.test.ts';

/** The same condition without the groups. */
function currentOnly(id: string): string {
  return `exists (select from oauth2_clients c where c.id = ${id} and c.version = :clientVersion::integer)`;
}

export const ACCESS_BY_GROUP: readonly Protection[] = [
  {
    name: 'access-at-request',
    what: 'authorization requests and device pages are refused to users who are not in the groups of the client',
    attack: 200,
    removals: [{ text: "  if (!isAdmitted) return [{ code: 'not-in-group' }];\n" }],
    test: TEST,
    testName: 'while the user',
  },
  {
    name: 'access-at-decision',
    what: 'the statement that issues a code reads the groups of the locked user',
    attack: 200,
    removals: [
      {
        text: "${clientWithIdIsCurrentAndAdmits('g.client_id', ':clientVersion::integer', 'account')}\n    returning g.client_id, :userId",
        instead: `${currentOnly('g.client_id')}\n    returning g.client_id, :userId`,
      },
    ],
    test: TEST,
    testName: 'a decision: no code',
  },
  {
    name: 'access-at-device-decision',
    what: 'the statement that approves a device reads the groups of the locked user',
    attack: 200,
    removals: [{ text: "\n                      and (not :isConfirmed::boolean or ${clientAdmits('c', 'account')})" }],
    test: TEST,
    testName: 'a decision about a device: no approval',
  },
  {
    name: 'access-at-code',
    what: 'a code of a user who left the groups since the decision is refused as such',
    attack: 200,
    removals: [{ text: "  if (row.client_admits !== true) return 'no-access';\n" }],
    test: TEST,
    testName: 'while the user',
  },
  {
    name: 'access-at-redemption',
    what: 'the statement that opens a session reads the groups of the locked user',
    attack: 200,
    removals: [
      {
        text: "${clientWithIdIsCurrentAndAdmits('g.client_id', ':clientVersion::integer', 'account')}\n    returning g.client_id, g.scope",
        instead: `${currentOnly('g.client_id')}\n    returning g.client_id, g.scope`,
      },
    ],
    test: TEST,
    testName: 'a code: no session',
  },
  {
    name: 'access-at-refresh',
    what: 'a refresh ends the session of a user who left the groups of the client',
    attack: 200,
    removals: [{ text: 'if (row.client_admits !== true) {', instead: 'if (row.client_admits === null) {' }],
    test: TEST,
    testName: 'a refresh after the loss',
  },
  {
    name: 'access-at-exchange',
    what: 'a client exchanges tokens of users in its groups only',
    attack: 200,
    removals: [{ text: "  if (!subject.caller_admits) throw refusal(deps, client, 'no_access', UNUSABLE_SUBJECT);\n" }],
    test: TEST,
    testName: 'refused like that of an unknown token',
  },
  {
    name: 'access-at-exchanged-token',
    what: 'the statement that stores an exchanged token reads the groups of the locked user',
    attack: 200,
    removals: [
      {
        text: "${clientWithIdIsCurrentAndAdmits(':clientId::uuid', ':clientVersion::integer', 'account')}",
        instead: currentOnly(':clientId::uuid'),
      },
    ],
    test: TEST,
    testName: 'a token exchange: no token',
  },
  {
    name: 'access-at-administrator',
    what: 'administrators open sessions only for users in the groups of the client',
    attack: 200,
    removals: [
      {
        text: " and ${clientAdmits('c', 'account')}\n       and account.is_usable",
        instead: '\n       and account.is_usable',
      },
    ],
    test: 'src/features/account-api/create-oauth2-session.test.ts',
    testName: 'outside of the groups',
  },
  {
    name: 'access-shown-empty',
    what: 'a client whose groups were deleted is not opened by sending back what responses show',
    attack: 200,
    removals: [{ text: 'if (opens ? !row.is_limited : isShown)', instead: 'if (isLimitedTo(row, names))' }],
    test: 'src/features/admin-api/client-changes.test.ts',
    testName: 'never opens it by accident',
  },
  {
    name: 'access-of-nobody',
    what: 'an empty list of groups, and deleted groups, admit no user',
    attack: 200,
    removals: [
      {
        text: '(case when ${client}.allowed_groups is null then true',
        instead: '(case when cardinality(${client}.allowed_groups) is distinct from 1 then true',
      },
    ],
    test: TEST,
    testName: 'while the user',
  },
  {
    name: 'access-of-deleted-groups',
    what: 'a group that clients are limited to is deleted only if forced, and the clients keep its ID',
    attack: 200,
    removals: [{ text: "  if (clients.length > 0 && !isForced) return { ok: false, reason: 'in-use', clients };\n" }],
    test: 'src/features/admin-api/groups.test.ts',
    testName: 'never opens them',
  },
  {
    name: 'access-of-former-names',
    what: 'the former name of a renamed group cannot be taken while members list it',
    attack: 200,
    removals: [
      { text: '\n    where not exists (select from user_groups renamed where renamed.former_name = :name::text)' },
    ],
    test: 'src/features/admin-api/groups.test.ts',
    testName: 'finished by the service',
  },
];
