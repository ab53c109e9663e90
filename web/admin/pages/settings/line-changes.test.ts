import { expect, test } from 'vitest';
import { lineChanges, withContext } from './line-changes.ts';

const text = (changes: readonly { readonly kind: string; readonly text: string }[]): string =>
  changes.map(({ kind, text: line }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${line}`).join('\n');

test('keeps common lines, and shows a replaced line as removed and added', () => {
  expect(text(lineChanges('{\n a\n b\n}', '{\n a\n c\n d\n}'))).toBe(' {\n  a\n- b\n+ c\n+ d\n }');
  expect(text(lineChanges('a\nb\nc', 'b\nc\nd'))).toBe('-a\n b\n c\n+d');
  expect(text(lineChanges('same', 'same'))).toBe(' same');
});

test('both texts can be restored from any comparison', () => {
  const line = (seed: number) => String.fromCharCode(97 + ((seed * 7919) % 5));
  for (let round = 0; round < 200; round += 1) {
    const [before, after] = [round % 9, (round * 3) % 11].map((size, which) =>
      Array.from({ length: size + 1 }, (_, index) => line(round * 13 + index * (which + 2))).join('\n'),
    );
    const changes = lineChanges(before ?? '', after ?? '');
    const without = (kind: string) =>
      changes
        .filter((one) => one.kind !== kind)
        .map((one) => one.text)
        .join('\n');
    expect([without('added'), without('removed')]).toEqual([before, after]);
  }
});

test('a large difference is shown without much work', () => {
  const many = (prefix: string) => Array.from({ length: 5_000 }, (_, index) => `${prefix}${index}`).join('\n');
  expect(lineChanges(many('a'), many('b'))).toHaveLength(10_000);
});

test('leaves out lines far from a change', () => {
  const lines = Array.from({ length: 20 }, (_, index) => String(index)).join('\n');
  const shown = withContext(lineChanges(lines, lines.replace('\n10\n', '\nten\n')));
  expect(shown.map((one) => one?.text)).toEqual([undefined, '7', '8', '9', '10', 'ten', '11', '12', '13', undefined]);
});
