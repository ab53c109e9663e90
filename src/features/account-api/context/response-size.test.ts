import { buildSchema, graphql } from 'graphql';
import { expect, test } from 'vitest';
import { measureFields, ResponseSize } from './response-size.ts';

const schema = buildSchema('type Query { items: [Item!]! nothing: String } type Item { text: String! note: String }');
measureFields(schema);

/** Queries items of a thousand bytes each. @returns data, the error code, and how many items were produced */
async function responseFor(isAnonymous: boolean, count: number, source = '{ items { text } }') {
  let made = 0;
  const item = {
    text: () => {
      made += 1;
      return 'x'.repeat(1000);
    },
    note: () => {
      made += 1;
      return 'é'.repeat(500);
    },
  };
  const items = Array.from({ length: count }, () => item);
  const responseSize = new ResponseSize(isAnonymous);
  const { data, errors } = await graphql({
    schema,
    source,
    rootValue: { items },
    contextValue: { answerSize: responseSize },
  });
  return { data, code: errors?.[0]?.extensions['code'], errors: errors?.length, made, answerSize: responseSize };
}

test.each([
  [true, 1000, 1100],
  [false, 8000, 8400],
])('anonymous: %s; allows a response of %i kB, and rejects one of %i kB', async (isAnonymous, below, above) => {
  const small = await responseFor(isAnonymous, below);
  expect([small.code, small.made, small.answerSize.isExceeded]).toEqual([undefined, below, false]);
  const large = await responseFor(isAnonymous, above * 2);
  expect([large.code, large.data, large.answerSize.isExceeded]).toEqual(['QUERY_TOO_COMPLEX', null, true]);
  expect(large.made).toBeLessThan(above);
});

test('omits nullable fields without one error each, and counts bytes rather than characters', async () => {
  const large = await responseFor(true, 20_000, '{ items { note } }');
  expect([large.code, large.errors, large.answerSize.isExceeded]).toEqual([undefined, undefined, true]);
  expect(large.made).toBeLessThan(1100);
});
