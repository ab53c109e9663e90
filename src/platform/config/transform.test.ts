import { expect, test } from 'vitest';
import { hint, shapeOf } from './shape.ts';
import { deprecationWarnings } from './transform.ts';
import { nodeOf } from './tree.ts';
import { bool, mapping } from './values.ts';

test('a deprecated key in use causes one warning that names its replacement', () => {
  const old = hint(bool(), { deprecated: 'use "section.current"' }).optional();
  const shape = shapeOf(mapping({ section: mapping({ old, current: bool().optional() }) }));
  const origin = { rank: 1, source: 'latchkey.yaml', directory: '/' };
  expect(deprecationWarnings(nodeOf({ section: { old: true } }, origin), shape)).toEqual([
    'section.old is deprecated: use "section.current"',
  ]);
  expect(deprecationWarnings(nodeOf({ section: { current: true } }, origin), shape)).toEqual([]);
});
