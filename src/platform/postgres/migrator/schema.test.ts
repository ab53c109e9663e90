import { expect, test } from 'vitest';
import { createTestDatabase } from '#test/support/database.ts';
import { dumpSchema } from '#test/support/schema-dump.ts';

test('migrations/schema.sql matches the result of the migrations', async () => {
  const test = await createTestDatabase();
  const dump = await dumpSchema(test.connectionString);
  await test.drop();
  await expect(dump).toMatchFileSnapshot('../../../../migrations/schema.sql');
});
