/**
 * Tests each document limit at its boundary: the last document that passes, and the first that is rejected without
 * execution (account-graphql 1.7).
 */
import { beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { codesOf, GraphqlClient } from '../support/graphql-client.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { SETTINGS } from './owned-objects.ts';

let nobody: GraphqlClient;

const service = await sharedByTests(startService(SETTINGS, { clock: new FakeClock() }));

beforeAll(async () => {
  nobody = new GraphqlClient(service);
});

/** For costs of 1,000 and more: the viewer, nine pages of 100 and one page with the rest. */
function costing(cost: number): string {
  const pages = Array.from({ length: 9 }, (_, index) => page(`a${index}`, 100)).join(' ');
  return `{ viewer { ... on User { ${pages} ${page('rest', cost - 911)} } } }`;
}

function page(alias: string, size: number): string {
  return `${alias}: appSessions(first: ${size}) { nodes { __typename } }`;
}

/** Fields with the same name in two selections. Validation compares each pair. */
function equalFields(count: number): string {
  const half = 'username '.repeat(count - 220);
  return `{ viewer { ... on User { ${'username '.repeat(220)} } ... on User { ${half} } } }`;
}

/** Each value of the list is one token. The rest of the document has 36. */
function tokens(count: number): string {
  const kinds = 'LOGIN '.repeat(count - 36);
  return `query ($kinds: [SecurityEventKind!] = [${kinds}]) {
    viewer { ... on User { securityEvents(kind: $kinds, first: 1) { totalCount } } }
  }`;
}

/**
 * Spreads a fragment with 197 nested selections and one field a hundred times, then adds plain fields up to the count.
 */
function expanded(count: number): string {
  const nested = `${'... { '.repeat(197)}__typename${' }'.repeat(197)}`;
  const rest = '__typename '.repeat(count - 1 - 100 * 199);
  return `{ viewer { ${'...Nested '.repeat(100)}${rest} } } fragment Nested on Viewer { ${nested} }`;
}

const bytes = (length: number): string => '{ __typename } #'.padEnd(length, 'x');
const operations = (count: number): string =>
  Array.from({ length: count }, (_, index) => `query A${index} { __typename }`).join(' ');
const mutationFields = (count: number): string => `mutation { ${'__typename '.repeat(count)} }`;
const introspection = (depth: number): string =>
  `{ __schema { types { fields { type { ${'ofType { '.repeat(depth - 5)} name ${'} '.repeat(depth - 5)} } } } } }`;

test.each([
  ['complexity', costing, 1000, undefined],
  ['tokens', tokens, 4000, undefined],
  ['spread fields and fragments', expanded, 20_000, undefined],
  ['comparisons of equally named fields', equalFields, 447, undefined],
  ['bytes', bytes, 65_536, undefined],
  ['operations', operations, 10, 'A0'],
  ['fields of a mutation', mutationFields, 10, undefined],
  ['depth of introspection', introspection, 20, undefined],
] as const)('%s (S-134)', async (_, make, most, operationName) => {
  const [below, above] = [make(most), make(most + 1)];
  const passed = await nobody.query(below, undefined, operationName);
  expect([passed.status, codesOf(passed), passed.data === undefined]).toEqual([200, [], false]);
  const refused = await nobody.query(above, undefined, operationName);
  expect([refused.status, codesOf(refused), refused.data]).toEqual([200, ['QUERY_TOO_COMPLEX'], undefined]);
  // The only statement charged the request to its rate limit.
  expect(service.requestLines().at(-1)?.queries).toBe(1);
});

test.each([
  ['spread fields and fragments', expanded(20_000)],
  ['comparisons of equally named fields', equalFields(447)],
  ['tokens', tokens(4000)],
])('the largest document by %s takes at most a quarter of a second', async (_, document) => {
  const costs = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const before = process.cpuUsage();
    expect((await nobody.query(document)).status).toBe(200);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  // CPU time of this process, independent of other load. The first run includes compilation.
  expect(Math.min(...costs)).toBeLessThan(250);
});
