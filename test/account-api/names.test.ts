import { expect, test } from 'vitest';
import { buildAccountSchema } from '#features/account-api/schema/schema.ts';
import { namesOf, readNotBuilt, specifiedSchema } from './names.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const specified = namesOf(specifiedSchema(ROOT));
const built = namesOf(buildAccountSchema());
const listed = new Set(readNotBuilt(ROOT));

test('every specified name exists with its type, or is listed as not yet built', () => {
  const missing = [...specified.keys()].filter((name) => !built.has(name));
  expect(missing.filter((name) => !listed.has(name))).toEqual([]);
  const others = [...specified].flatMap(([name, what]) => {
    const is = built.get(name);
    return is === undefined || is === what ? [] : [`${name} is ${is}, and was specified as ${what}`];
  });
  expect(others).toEqual([]);
});

test('the list of unbuilt names holds only specified names that do not exist yet', () => {
  expect([...listed].filter((name) => !specified.has(name))).toEqual([]);
  expect([...listed].filter((name) => built.has(name))).toEqual([]);
});
