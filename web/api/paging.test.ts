import { describe, expect, test } from 'vitest';
import { neighbours, pagingOf } from './paging.ts';

const query = (text: string) => new URLSearchParams(text);

describe('the pages of a list (account-graphql 8.6)', () => {
  test('start with the newest items, which are at the end of the list', () => {
    expect(pagingOf(query(''), 6)).toEqual({ last: 6 });
  });

  test('follow the cursors in the URL, whatever page size it contains', () => {
    expect(pagingOf(query('last=100&before=abc'), 6)).toEqual({ last: 6, before: 'abc' });
    expect(pagingOf(query('first=6&after=abc'), 6)).toEqual({ first: 6, after: 'abc' });
  });

  test('link only to existing pages', () => {
    const info = { startCursor: 'old', endCursor: 'new' };
    expect(neighbours({ ...info, hasNextPage: false, hasPreviousPage: true }, 6, {})).toEqual({
      newer: undefined,
      older: '?last=6&before=old',
    });
    expect(neighbours({ ...info, hasNextPage: true, hasPreviousPage: false }, 6, { inactive: 'true' })).toEqual({
      newer: '?inactive=true&first=6&after=new',
      older: undefined,
    });
  });
});
