/** Colors and shapes of pages and emails: the bundled ones, those of the operator's theme, and the contrast they need. */
import { contrast, MIN_TEXT_CONTRAST, type Theme as Scheme, towardsText } from '#platform/base/contrast.ts';

/** Colors of both schemes, as in `pages.css`. */
export const BUNDLED_COLORS = {
  light: {
    ground: '#f4f6f5',
    surface: '#ffffff',
    sunken: '#eef1f0',
    text: '#15201d',
    muted: '#566762',
    line: '#d5dcd9',
    control: '#7c8a86',
    accent: '#0a6a5a',
    'accent-strong': '#075146',
    'on-accent': '#ffffff',
    danger: '#b3261e',
    'danger-soft': '#fceeed',
    warning: '#7a4f00',
    'warning-soft': '#fdf4e3',
    success: '#1d6b34',
    'success-soft': '#e9f5ec',
    focus: '#1f5fe0',
  },
  dark: {
    ground: '#0e1413',
    surface: '#161e1c',
    sunken: '#1d2725',
    text: '#e9f0ee',
    muted: '#9fb0ab',
    line: '#2b3835',
    control: '#6f827d',
    accent: '#52cdb4',
    'accent-strong': '#7fe0cc',
    'on-accent': '#04211b',
    danger: '#ff9a91',
    'danger-soft': '#35201f',
    warning: '#f2c46b',
    'warning-soft': '#2f2716',
    success: '#86d79b',
    'success-soft': '#1a2b20',
    focus: '#8db4ff',
  },
} as const satisfies Readonly<Record<Scheme, Readonly<Record<string, string>>>>;

export type ColorName = keyof typeof BUNDLED_COLORS.light;
export type Colors = Readonly<Record<ColorName, string>>;

export const SCHEMES = ['light', 'dark'] as const satisfies readonly Scheme[];

/** Properties that are the same in both schemes. */
export const SHAPES = ['font', 'radius', 'radius-card'] as const;

/** What an operator's theme file sets. Colors are lowercase `#rrggbb`. */
export interface Theme {
  readonly light: Readonly<Partial<Record<ColorName, string>>>;
  readonly dark: Readonly<Partial<Record<ColorName, string>>>;
  readonly shapes: Readonly<Partial<Record<(typeof SHAPES)[number], string>>>;
}

export function isColorName(name: string): name is ColorName {
  return Object.hasOwn(BUNDLED_COLORS.light, name);
}

// The lightest and the darkest color of the pages: one of both is readable on every accent with enough contrast.
const ON_ACCENT: Readonly<Record<Scheme, string>> = { light: '#ffffff', dark: '#0e1413' };

/** Returns the colors that go with an accent: `accent-strong` is for the pointer, and never less readable. */
export function accentColors(scheme: Scheme, accent: string) {
  return { accent, 'accent-strong': towardsText(accent, scheme, 25), 'on-accent': ON_ACCENT[scheme] } as const;
}

/** Returns all colors of a scheme: those of the theme, those derived from its accent, and the bundled ones. */
export function colorsOf(scheme: Scheme, own: Theme['light']): Colors {
  return { ...BUNDLED_COLORS[scheme], ...(own.accent !== undefined && accentColors(scheme, own.accent)), ...own };
}

/** Foreground and background of texts (WCAG 2.2 1.4.3). */
export const TEXT_PAIRS = [
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
] as const satisfies readonly (readonly [ColorName, ColorName])[];

/** Parts of controls, and what is next to them (WCAG 2.2 1.4.11). */
export const CONTROL_PAIRS = [
  ['control', 'surface'],
  ['danger', 'surface'],
  ['danger', 'sunken'],
  ['warning', 'sunken'],
  ['success', 'sunken'],
  ['focus', 'surface'],
  ['focus', 'ground'],
] as const satisfies readonly (readonly [ColorName, ColorName])[];

export const MIN_CONTROL_CONTRAST = 3;

/** Describes each pair of colors that is hard to see. */
export function contrastProblems(scheme: Scheme, colors: Colors): string[] {
  const check = (pairs: readonly (readonly [ColorName, ColorName])[], needed: number) =>
    pairs.flatMap(([front, back]) => {
      const ratio = contrast(colors[front], colors[back]);
      if (ratio >= needed) return [];
      // Rounded down, so that a rejected ratio is never displayed as sufficient.
      const found = (Math.floor(ratio * 100) / 100).toFixed(2);
      return [
        `--${front} ${colors[front]} on --${back} ${colors[back]} in the ${scheme} scheme: ` +
          `the contrast is ${found}:1 and must be at least ${needed}:1`,
      ];
    });
  return [...check(TEXT_PAIRS, MIN_TEXT_CONTRAST), ...check(CONTROL_PAIRS, MIN_CONTROL_CONTRAST)];
}
