import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('assets/pages.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');

function tokens(text: string): Map<string, string> {
  return new Map([...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2 contrast ratio. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const TEXT_PAIRS = [
  ['text', 'ground'],
  ['text', 'surface'],
  ['text', 'sunken'],
  ['muted', 'ground'],
  ['muted', 'surface'],
  ['muted', 'sunken'],
  ['accent', 'surface'],
  ['accent', 'sunken'],
  ['accent-strong', 'surface'],
  ['accent-strong', 'sunken'],
  ['on-accent', 'accent'],
  ['on-accent', 'accent-strong'],
  ['danger', 'surface'],
  ['danger', 'sunken'],
  ['danger', 'danger-soft'],
  ['warning', 'warning-soft'],
  ['success', 'success-soft'],
] as const;

const CONTROL_PAIRS = [
  ['control', 'surface'],
  ['danger', 'surface'],
  ['danger', 'sunken'],
  ['warning', 'sunken'],
  ['success', 'sunken'],
  ['focus', 'surface'],
  ['focus', 'ground'],
] as const;

describe.each([
  ['light', tokens(light)],
  ['dark', tokens(dark)],
])('the %s theme', (_theme, colors) => {
  const ratio = (one: string, other: string) => contrast(colors.get(one) ?? '', colors.get(other) ?? '');

  it.each(TEXT_PAIRS)('%s is readable on %s (WCAG 2.2 1.4.3)', (text, background) => {
    expect(ratio(text, background)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(CONTROL_PAIRS)('%s can be seen on %s (WCAG 2.2 1.4.11)', (control, background) => {
    expect(ratio(control, background)).toBeGreaterThanOrEqual(3);
  });
});
