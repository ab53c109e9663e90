/** Colors are lowercase `#rrggbb`. */
export type Theme = 'light' | 'dark';

/** Text backgrounds, as in the stylesheet: page, card and quoted facts. */
export const BACKGROUNDS: Readonly<Record<Theme, readonly [string, ...string[]]>> = {
  light: ['#f4f6f5', '#ffffff', '#eef1f0'],
  dark: ['#0e1413', '#161e1c', '#1d2725'],
};

/** WCAG 2.2 1.4.3. */
export const MIN_TEXT_CONTRAST = 4.5;

/** WCAG 2.2 contrast ratio. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the lowest contrast against the theme's backgrounds. */
export function themeContrast(color: string, theme: Theme): number {
  return Math.min(...BACKGROUNDS[theme].map((background) => contrast(color, background)));
}

/** Returns the color itself, or the nearest one towards the theme's text color that is readable on every background. */
export function readable(color: string, theme: Theme): string {
  for (let percent = 0; percent < 100; percent += 2) {
    const candidate = towardsText(color, theme, percent);
    if (themeContrast(candidate, theme) >= MIN_TEXT_CONTRAST) return candidate;
  }
  return theme === 'light' ? '#000000' : '#ffffff';
}

/** Darker on a light theme, lighter on a dark one. */
export function towardsText(color: string, theme: Theme, percent: number): string {
  const end = theme === 'light' ? 0 : 255;
  const mixed = channels(color).map((channel) => Math.round(channel + ((end - channel) * percent) / 100));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
