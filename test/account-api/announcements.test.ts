import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { ANNOUNCED, UNANNOUNCED } from '../../tools/browser/announcements.js';

test('a journey covers the announcement of every account area mutation', () => {
  const documents = readdirSync('web', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => parse(readFileSync(join('web', file), 'utf8')));
  const mutations = documents
    .flatMap(({ definitions }) => definitions)
    .flatMap((one) => (one.kind === 'OperationDefinition' && one.operation === 'mutation' ? [one.name?.value] : []));
  const listed = [...Object.values(ANNOUNCED).flat(), ...UNANNOUNCED];
  expect(listed.toSorted()).toEqual(mutations.toSorted());
});
