import { expect, test } from 'vitest';
import { mergeNewest } from './merged-lists.ts';

const part = (ids: readonly string[], hasPreviousPage = false) => ({
  nodes: ids.map((id) => ({ id })),
  pageInfo: { hasNextPage: false, hasPreviousPage, startCursor: null, endCursor: null },
});
const ids = (merged: ReturnType<typeof mergeNewest>) => merged.items.map(({ id }) => id);

test('complete lists are merged, newest first', () => {
  const merged = mergeNewest([part(['browser:01', 'browser:04']), part(['oauth2:02', 'compat:03'])]);
  expect(ids(merged)).toEqual(['browser:04', 'compat:03', 'oauth2:02', 'browser:01']);
  expect(merged.hasOlder).toBe(false);
});

test('items are held back while newer ones may be missing', () => {
  const merged = mergeNewest([part(['browser:01', 'browser:09']), part(['oauth2:05', 'oauth2:07'], true)]);
  expect(ids(merged)).toEqual(['browser:09', 'oauth2:07', 'oauth2:05']);
  expect(merged.hasOlder).toBe(true);
  const both = mergeNewest([part(['browser:03', 'browser:09'], true), part(['oauth2:05', 'oauth2:07'], true)]);
  expect(ids(both)).toEqual(['browser:09', 'oauth2:07', 'oauth2:05']);
});

test('everything loaded is shown before the window moves', () => {
  expect(ids(mergeNewest([part(['browser:01']), part(['oauth2:05'], true)], true))).toEqual([
    'oauth2:05',
    'browser:01',
  ]);
});

test('empty lists are merged', () => {
  expect(mergeNewest([part([]), part([])])).toEqual({ items: [], hasOlder: false });
});
