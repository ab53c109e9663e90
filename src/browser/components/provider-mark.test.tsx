import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { ProviderMark } from './provider-mark.tsx';

test.each([
  ['google', 'G'],
  ['“École”', 'É'],
  ['', '?'],
])('the mark of %j is its first letter, without a logo, and hidden from screen readers', (brand, letter) => {
  expect(render(<ProviderMark brand={brand} />)).toBe(`<span class="mark" aria-hidden="true">${letter}</span>`);
});
