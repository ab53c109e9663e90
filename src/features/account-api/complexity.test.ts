import { Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { complexityOf } from './complexity.ts';
import { buildAccountSchema } from './schema/schema.ts';

const schema = buildAccountSchema();

test.each([
  ['{ viewer { __typename } }', 1],
  ['{ __type(name: "User") { name } }', 1],
  ['{ __type(name: "User") { fields { type { kind } args { name } } } }', 4],
  ['{ __schema { types { fields { type { ofType { name } } } } } }', 5],
])('%s costs %i: introspection fields count like other fields (account-graphql 1.7, S-136)', (text, cost) => {
  const document = parse(text);
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) expect.fail('no operation');
  expect(complexityOf({ schema, document, operation, variables: {} })).toBe(cost);
});
