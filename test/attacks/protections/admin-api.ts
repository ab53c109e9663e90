/** The admin API. */
import type { Protection } from './protection.ts';

const TEST = 'test/attacks/admin-api.test.ts';

export const ADMIN_API: readonly Protection[] = [
  {
    name: 'admin-scope-asked',
    what: 'the admin API takes tokens with its scope alone',
    attack: 129,
    removals: [
      {
        text: "if (!scope.some((name) => scopeRules.classify(name) === 'admin')) {",
        instead: 'if (scope === undefined) {',
      },
    ],
    test: TEST,
    testName: 'refused at every route, before any record is read',
  },
  {
    name: 'admin-bound-tokens',
    what: 'the admin API takes no token that is bound to a key',
    attack: 129,
    removals: [
      {
        text: '|| token.key !== undefined) {\n    throw await refused(',
        instead: ') {\n    throw await refused(',
      },
    ],
    test: TEST,
    testName: 'bound to a key',
  },
  {
    name: 'admin-failures-counted',
    what: 'wrong tokens of the admin API are counted by address',
    attack: 129,
    removals: [
      {
        text: "name: 'admin-token', limiter, address: clientAddress",
        instead: "name: 'admin-token', limiter: { burst: 1_000_000, perSecond: 1 }, address: clientAddress",
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'wrong tokens are counted by address',
  },
  {
    name: 'admin-policy-data-in-force',
    what: 'policy data of the admin API is in force when its answer is there',
    attack: 178,
    removals: [{ text: 'core.policy.adopt(toUuid(id), judged.data);' }],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'rules from the next request on',
  },
  {
    name: 'admin-policy-data-judged',
    what: 'policy data that cannot be used is not stored',
    attack: 178,
    removals: [
      {
        text: 'if (!judged.ok) {\n        const pointer',
        instead: 'if (!judged.ok && data === undefined) {\n        const pointer',
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'is refused with the place of what is wrong',
  },
  {
    name: 'admin-link-owned',
    what: 'an identity that an account has is not given to another one',
    attack: 128,
    removals: [
      {
        text: 'human_account_name = coalesce(excluded.human_account_name, l.human_account_name)\n    where l.user_id is null',
        instead: 'human_account_name = coalesce(excluded.human_account_name, l.human_account_name)',
      },
    ],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'are given to accounts, listed and forgotten',
  },
  {
    name: 'admin-static-client-kept',
    what: 'an application of the configuration is not deleted through the admin API',
    attack: 45,
    removals: [{ text: "if (client.is_static) return 'static';" }],
    test: 'src/features/admin-api/admin-api.test.ts',
    testName: 'one of the configuration is not',
  },
  {
    name: 'admin-search-escaped',
    what: 'signs of a pattern stand for themselves in a search of the admin API',
    attack: 162,
    removals: [{ text: ".replace(/[\\\\%_]/g, '\\\\$&')" }],
    test: TEST,
    testName: 'signs of a pattern stand for themselves',
  },
];
