import { readFileSync } from 'node:fs';
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { ProviderMark } from './provider-mark.tsx';

const BRANDS = ['apple', 'discord', 'facebook', 'github', 'gitlab', 'google', 'keycloak', 'linkedin', 'microsoft'];

test('each brand of the manual has a mark of its own, which is not read out and fetches nothing', () => {
  const marks = [...BRANDS, 'twitter'].map((brand) => render(<ProviderMark brand={brand} />));
  expect(new Set(marks).size).toBe(marks.length);
  for (const mark of marks) {
    expect(mark).toContain('aria-hidden="true"');
    expect(mark).not.toMatch(/style=|href=|<image|https?:/);
  }
});

test('any other brand has its initial', () => {
  expect(render(<ProviderMark brand="harbour" />)).toBe('<span class="mark" aria-hidden="true">H</span>');
});

test('colors of the stylesheet are those of marks that there are', () => {
  const css = readFileSync('src/browser/assets/pages.css', 'utf8');
  const colored = [...css.matchAll(/\.mark-(?!drawn)(\w+)/g)].map(([, name = '']) => name);
  expect(colored.filter((name) => !BRANDS.includes(name))).toEqual([]);
  expect(colored.length).toBeGreaterThan(4);
});
