/** Groups, and claims that the operator defines. */
import type { Protection } from './protection.ts';

const TOKENS = 'src/features/token/groups-and-claims.test.ts';
const ADMIN_API = 'src/features/admin-api/user-claims.test.ts';

export const EXTRA_CLAIMS: readonly Protection[] = [
  {
    name: 'claims-reserved-names',
    what: 'nobody sets a claim that this service writes itself',
    attack: 131,
    removals: [{ text: "  if (RESERVED.has(name)) return 'this claim is reserved for the server';\n" }],
    test: ADMIN_API,
    testName: 'what the service says itself',
  },
  {
    name: 'claims-stored-names',
    what: 'a stored claim never stands in for one that the service leaves out',
    attack: 131,
    removals: [{ text: 'filter(([name]) => !RESERVED.has(name))', instead: 'filter(() => true)' }],
    test: TOKENS,
    testName: 'never replace what the service says itself',
  },
  {
    name: 'claims-of-registered-clients',
    what: 'a client that registered itself has no claims signed that it made up',
    attack: 131,
    removals: [
      { text: 'extraClaimsFromJson(row.is_static ? metadata.claims : undefined)', instead: 'metadata.claims ?? {}' },
    ],
    test: TOKENS,
    testName: 'not of dynamic clients',
  },
  {
    name: 'groups-of-disabled-providers',
    what: 'a provider that was taken out of the configuration gives no rights any more',
    attack: 112,
    removals: [
      { text: "where gl.user_id = ${user} and ${providerIsEnabled('gp')}", instead: 'where gl.user_id = ${user}' },
    ],
    test: TOKENS,
    testName: 'nothing of a provider that was taken out',
  },
  {
    name: 'groups-taken-away-upstream',
    what: 'a group that is gone at the provider is gone here at the next sign-in',
    attack: 112,
    removals: [{ text: ', groups = excluded.groups' }],
    test: 'src/features/upstream-login/groups-import.test.ts',
    testName: 'take the place of those that it named before',
  },
  {
    name: 'groups-usable-names',
    what: 'names of groups that nobody could store or tell apart are left out',
    attack: 112,
    removals: [
      {
        text: '.filter(\n    isGroupName,\n  )',
        instead: '.filter(() => true)',
      },
    ],
    test: 'src/features/upstream-login/groups-import.test.ts',
    testName: 'names that cannot be used',
  },
];
