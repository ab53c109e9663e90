import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BACKGROUNDS, contrast } from '#platform/base/contrast.ts';
import { BUNDLED_COLORS, CONTROL_PAIRS, TEXT_PAIRS } from '#vocabulary/theme.ts';

const css = readFileSync(new URL('assets/pages.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');

function tokens(text: string): Map<string, string> {
  return new Map([...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

describe.each([
  ['light', tokens(light)],
  ['dark', tokens(dark)],
] as const)('the %s theme', (theme, colors) => {
  const ratio = (one: string, other: string) => contrast(colors.get(one) ?? '', colors.get(other) ?? '');

  test('has the colors that themes start from', () => {
    expect(Object.fromEntries(colors)).toEqual(BUNDLED_COLORS[theme]);
  });

  test('has the backgrounds that a custom accent color is checked against', () => {
    expect(['ground', 'surface', 'sunken'].map((name) => colors.get(name))).toEqual(BACKGROUNDS[theme]);
  });

  test.each(TEXT_PAIRS)('%s is readable on %s (WCAG 2.2 1.4.3)', (text, background) => {
    expect(ratio(text, background)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(CONTROL_PAIRS)('%s is visible on %s (WCAG 2.2 1.4.11)', (control, background) => {
    expect(ratio(control, background)).toBeGreaterThanOrEqual(3);
  });
});
