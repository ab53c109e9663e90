import { lexicographicSortSchema, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { buildAccountSchema } from './schema.ts';

/** Clients are generated from it: nothing of it goes away but with a major version (account-graphql 9.2). */
test('share/account-api.graphql is the schema, with every name, type and deprecation', async () => {
  const printed = printSchema(lexicographicSortSchema(buildAccountSchema()));
  await expect(`${printed}\n`).toMatchFileSnapshot('../../../../share/account-api.graphql');
});
