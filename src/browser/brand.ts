import type { BrandingConfig, PictureConfig } from '#config/sections/branding.ts';
import { type Theme, towardsText } from '#platform/base/contrast.ts';
import type { AssetName } from './asset-files.ts';

/** A file provided by the operator, or generated from the operator's settings, that is published with the assets. */
export interface BrandFile {
  readonly name: AssetName;
  readonly content: Buffer;
}

/** The operator's replacements for the bundled look. */
export interface Brand {
  readonly logo: BrandFile | undefined;
  readonly darkLogo: BrandFile | undefined;
  readonly icon: BrandFile | undefined;
  /** Colors that override those of `pages.css`. */
  readonly stylesheet: BrandFile | undefined;
}

export function brandOf(branding: BrandingConfig): Brand {
  const css = accentStyles('light', branding.accentColor) + accentStyles('dark', branding.accentColorDark);
  return {
    logo: picture('logo', branding.logo),
    darkLogo: picture('logo-dark', branding.logoDark),
    icon: picture('icon', branding.favicon),
    stylesheet: css === '' ? undefined : { name: 'brand.css', content: Buffer.from(css) },
  };
}

function picture(name: 'logo' | 'logo-dark' | 'icon', found: PictureConfig | undefined): BrandFile | undefined {
  return found === undefined ? undefined : { name: `${name}.${found.format}`, content: found.content };
}

// An accent has enough contrast with the theme's backgrounds, so the theme's lightest or darkest color has enough
// contrast with the accent.
const ON_ACCENT: Readonly<Record<Theme, string>> = { light: '#ffffff', dark: '#0e1413' };

/** `accent-strong` is the hover color. It is further from the background, so it is never less readable. */
function accentStyles(theme: Theme, accent: string | undefined): string {
  if (accent === undefined) return '';
  const strong = towardsText(accent, theme, 25);
  const rule = `:root{--accent:${accent};--accent-strong:${strong};--on-accent:${ON_ACCENT[theme]}}`;
  return theme === 'light' ? rule : `@media (prefers-color-scheme:dark){${rule}}`;
}
