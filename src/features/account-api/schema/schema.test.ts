import { lexicographicSortSchema, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { buildAccountSchema } from './schema.ts';

/** Client code is generated from the schema. Removing anything requires a major version (account-graphql 9.2). */
test('share/account-api.graphql matches the schema, with all names, types and deprecations', async () => {
  const printed = printSchema(lexicographicSortSchema(buildAccountSchema()));
  await expect(`${printed}\n`).toMatchFileSnapshot('../../../../share/account-api.graphql');
});
