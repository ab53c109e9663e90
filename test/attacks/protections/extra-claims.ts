/** Groups, and claims that the operator defines. */
import type { Protection } from './protection.ts';

const TOKENS = 'src/features/token/groups-and-claims.test.ts';
const ADMIN_API = 'src/features/admin-api/user-claims.test.ts';

export const EXTRA_CLAIMS: readonly Protection[] = [
  {
    name: 'claims-reserved-names',
    what: 'administrators cannot set built-in claims',
    attack: 131,
    removals: [{ text: "  if (RESERVED.has(name)) return 'this claim is reserved for the server';\n" }],
    test: ADMIN_API,
    testName: 'a claim reserved for the server',
  },
  {
    name: 'claims-stored-names',
    what: 'a stored claim never replaces an omitted built-in claim',
    attack: 131,
    removals: [{ text: 'filter(([name]) => !RESERVED.has(name))', instead: 'filter(() => true)' }],
    test: TOKENS,
    testName: 'never override claims of the service, whatever is stored, so users cannot impersonate others',
  },
  {
    name: 'claims-of-registered-clients',
    what: 'a dynamically registered client cannot have custom claims signed',
    attack: 131,
    removals: [
      { text: 'extraClaimsFromJson(isVouchedFor ? metadata.claims : undefined)', instead: 'metadata.claims ?? {}' },
    ],
    test: TOKENS,
    testName: 'apply to all users of the client, below account claims, and not to dynamic clients',
  },
  {
    name: 'groups-of-disabled-providers',
    what: 'a provider removed from the configuration grants no rights',
    attack: 112,
    removals: [
      { text: "where gl.user_id = ${user} and ${providerIsEnabled('gp')}", instead: 'where gl.user_id = ${user}' },
    ],
    test: TOKENS,
    testName: 'is current at a refresh, and has nothing from a provider removed from the configuration',
  },
  {
    name: 'groups-taken-away-upstream',
    what: 'a group removed at the provider is removed here at the next sign-in',
    attack: 112,
    removals: [{ text: ', groups = excluded.groups' }],
    test: 'src/features/upstream-login/groups-import.test.ts',
    testName: "replace the provider's previous ones at each sign-in, and keep those of other sources",
  },
  {
    name: 'groups-usable-names',
    what: 'group names that cannot be stored or distinguished are omitted',
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
