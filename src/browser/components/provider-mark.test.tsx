import { readFileSync } from 'node:fs';
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { ProviderMark } from './provider-mark.tsx';

const BRANDS = ['apple', 'discord', 'facebook', 'github', 'gitlab', 'google', 'keycloak', 'linkedin', 'microsoft'];

test('each documented brand has its own icon, which is hidden from screen readers and loads nothing', () => {
  const marks = [...BRANDS, 'twitter'].map((brand) => render(<ProviderMark brand={brand} />));
  expect(new Set(marks).size).toBe(marks.length);
  for (const mark of marks) {
    expect(mark).toContain('aria-hidden="true"');
    expect(mark).not.toMatch(/style=|href=|<image|https?:/);
  }
});

test('any other brand shows its initial', () => {
  expect(render(<ProviderMark brand="harbour" />)).toBe('<span class="mark" aria-hidden="true">H</span>');
});

test('the stylesheet defines colors only for existing icons', () => {
  const css = readFileSync('src/browser/assets/pages.css', 'utf8');
  const colored = [...css.matchAll(/\.mark-(?!drawn)(\w+)/g)].map(([, name = '']) => name);
  expect(colored.filter((name) => !BRANDS.includes(name))).toEqual([]);
  expect(colored.length).toBeGreaterThan(4);
});
