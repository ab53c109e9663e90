import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readable, themeContrast } from '#platform/base/contrast.ts';
import { loadYaml, problemsOfYaml } from '../fixture.test-support.ts';

describe('an accent color (browser-flows 12.4, WCAG 2.2 1.4.3)', () => {
  test.each([
    ['accent_color', '#ffb000', 'light', '1.6'],
    ['accent_color', '#ffffff', 'light', '1.0'],
    ['accent_color_dark', '#0A6A5A', 'dark', '2.3'],
  ])('%s: %s is rejected as hard to read on %s pages, with a suitable suggestion', (key, color, theme, ratio) => {
    const found = problemsOfYaml(`branding:\n  ${key}: "${color}"\n`);
    const [, suggestion = ''] = /; "(#[0-9a-f]{6})" would do/.exec(found.join()) ?? [];
    const name = color.toLowerCase();
    expect(found).toEqual([
      `branding.${key}: ${name} is hard to read: it needs a contrast of 4.5:1 on ${theme} pages and has ${ratio}:1; ` +
        `"${suggestion}" would do (latchkey.yaml:2:${key.length + 5})`,
    ]);
    expect(problemsOfYaml(`branding:\n  ${key}: "${suggestion}"\n`)).toEqual([]);
  });

  test('without quotes is a comment, so that the key has no value: rejected', () => {
    expect(problemsOfYaml('branding:\n  accent_color: #0b5fa5\n')).toEqual([
      'branding.accent_color: has no value: "#" starts a comment; put colors in quotes (latchkey.yaml:2:3)',
    ]);
    expect(problemsOfYaml('branding:\n  accent_color: # none yet\n')).toEqual([]);
  });

  test('of dark pages is derived from the other one unless set', () => {
    const { accentColor, accentColorDark = '' } = loadYaml('branding: {accent_color: "#0b5fa5"}').branding;
    expect(accentColor).toBe('#0b5fa5');
    expect(themeContrast(accentColorDark, 'dark')).toBeGreaterThanOrEqual(4.5);
    const both = loadYaml('branding: {accent_color: "#0b5fa5", accent_color_dark: "#8db4ff"}').branding;
    expect(both.accentColorDark).toBe('#8db4ff');
    expect(loadYaml('branding: {accent_color_dark: "#8db4ff"}').branding.accentColor).toBeUndefined();
  });

  test('any color can be made readable', () => {
    const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(color, fc.constantFrom('light' as const, 'dark' as const), (chosen, theme) => {
        expect(themeContrast(readable(chosen, theme), theme)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });
});
