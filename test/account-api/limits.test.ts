/** Each limit of a document at its edge: the last that passes, and the first that is refused with nothing run (1.7). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { codesOf, GraphqlClient } from '../support/graphql-client.ts';
import { startService, type TestService } from '../support/service.ts';
import { SETTINGS } from './owned-objects.ts';

let service: TestService;
let nobody: GraphqlClient;

beforeAll(async () => {
  service = await startService(SETTINGS, { clock: new FakeClock() });
  nobody = new GraphqlClient(service);
});

afterAll(async () => {
  await service.stop();
});

/** Of 1,000 and more: the viewer, nine pages of 100 and one of `last`. */
function costing(cost: number): string {
  const pages = Array.from({ length: 9 }, (_, index) => page(`a${index}`, 100)).join(' ');
  return `{ viewer { ... on User { ${pages} ${page('rest', cost - 911)} } } }`;
}

function page(alias: string, size: number): string {
  return `${alias}: appSessions(first: ${size}) { nodes { __typename } }`;
}

/** Fields of one name in two selections, each of which validation compares with each other. */
function equalFields(count: number): string {
  const half = 'username '.repeat(count - 220);
  return `{ viewer { ... on User { ${'username '.repeat(220)} } ... on User { ${half} } } }`;
}

const bytes = (length: number): string => '{ __typename } #'.padEnd(length, 'x');
const operations = (count: number): string =>
  Array.from({ length: count }, (_, index) => `query A${index} { __typename }`).join(' ');
const mutationFields = (count: number): string => `mutation { ${'__typename '.repeat(count)} }`;
const introspection = (depth: number): string =>
  `{ __schema { types { fields { type { ${'ofType { '.repeat(depth - 5)} name ${'} '.repeat(depth - 5)} } } } } }`;

test.each([
  ['complexity', costing, 1000, undefined],
  ['comparisons of fields of one name', equalFields, 447, undefined],
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
  // The request was counted against its limit, and that was all.
  expect(service.requestLines().at(-1)?.queries).toBe(1);
});
