import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BrandingConfig } from '#config/sections/branding.ts';
import { BACKGROUNDS, contrast, readable } from '#platform/base/contrast.ts';
import { brandOf } from './brand.ts';

const PLAIN: BrandingConfig = {
  serviceName: 'example.org',
  policyUri: undefined,
  tosUri: undefined,
  imprint: undefined,
  loginMessage: undefined,
  contact: undefined,
  securityContact: undefined,
  showTechnicalInfo: true,
  logo: undefined,
  logoDark: undefined,
  favicon: undefined,
  accentColor: undefined,
  accentColorDark: undefined,
  theme: undefined,
};

function stylesheet(accentColor: string | undefined, accentColorDark: string | undefined): string | undefined {
  return brandOf({ ...PLAIN, accentColor, accentColorDark }).stylesheet?.content.toString();
}

function tokens(css: string): Map<string, string> {
  return new Map([...css.matchAll(/--([a-z-]+):(#[0-9a-f]{6})/g)].map(([, name = '', value = '']) => [name, value]));
}

describe('the stylesheet of the accent color (browser-flows 12.4)', () => {
  test('does not exist without one', () => {
    expect(brandOf(PLAIN)).toEqual({ logo: undefined, darkLogo: undefined, icon: undefined, stylesheet: undefined });
  });

  test('has a part for each theme with a color', () => {
    expect(stylesheet('#0b5fa5', undefined)).toMatch(/^:root\{--accent:#0b5fa5;[^{}]*\}$/);
    expect(stylesheet(undefined, '#8db4ff')).toMatch(
      /^@media \(prefers-color-scheme:dark\)\{:root\{--accent:#8db4ff;[^{}]*\}\}$/,
    );
    expect(stylesheet('#0b5fa5', '#8db4ff')?.match(/--accent:/g)).toHaveLength(2);
  });

  test.each(['light', 'dark'] as const)('is readable on %s pages and on hover for any allowed color', (theme) => {
    const color = fc
      .integer({ min: 0, max: 0xffffff })
      .map((value) => readable(`#${value.toString(16).padStart(6, '0')}`, theme));
    fc.assert(
      fc.property(color, (accent) => {
        const css = theme === 'light' ? stylesheet(accent, undefined) : stylesheet(undefined, accent);
        const colors = tokens(css ?? '');
        for (const name of ['accent', 'accent-strong']) {
          const shown = colors.get(name) ?? '';
          for (const background of BACKGROUNDS[theme]) expect(contrast(shown, background)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(shown, colors.get('on-accent') ?? '')).toBeGreaterThanOrEqual(4.5);
        }
      }),
    );
  });
});

describe('the stylesheet of a theme (browser-flows 12.4)', () => {
  const theme = {
    light: { accent: '#0b5fa5', ground: '#fafafa' },
    dark: { text: '#ffffff' },
    shapes: { radius: '4px' },
  };
  const css = brandOf({ ...PLAIN, theme }).stylesheet?.content.toString() ?? '';
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme:dark)');

  test('has the colors of both schemes, so that a light color does not apply to dark pages', () => {
    expect(light).toMatch(/^:root\{[^{}]*\}$/);
    expect(dark).toMatch(/^\{:root\{[^{}]*\}\}$/);
    expect(Object.fromEntries(tokens(light))).toMatchObject({ accent: '#0b5fa5', ground: '#fafafa', text: '#15201d' });
    expect(Object.fromEntries(tokens(dark))).toMatchObject({ accent: '#52cdb4', ground: '#0e1413', text: '#ffffff' });
    expect(light).toContain(';--radius:4px}');
  });

  test('has the colors that go with its accent', () => {
    const colors = tokens(light);
    expect(contrast(colors.get('on-accent') ?? '', colors.get('accent-strong') ?? '')).toBeGreaterThanOrEqual(4.5);
    expect(colors.get('accent-strong')).not.toBe('#075146');
  });
});
