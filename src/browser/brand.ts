import type { BrandingConfig, PictureConfig } from '#config/sections/branding.ts';
import type { Theme as Scheme } from '#platform/base/contrast.ts';
import { accentColors, colorsOf, type Theme } from '#vocabulary/theme.ts';
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
  const css =
    branding.theme === undefined
      ? accentStyles('light', branding.accentColor) + accentStyles('dark', branding.accentColorDark)
      : themeStyles(branding.theme);
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

function accentStyles(scheme: Scheme, accent: string | undefined): string {
  return accent === undefined ? '' : rule(scheme, accentColors(scheme, accent));
}

/** A color of the light scheme would also apply to dark pages. Therefore the dark rule repeats each color. */
function themeStyles({ light, dark, shapes }: Theme): string {
  return rule('light', { ...colorsOf('light', light), ...shapes }) + rule('dark', colorsOf('dark', dark));
}

function rule(scheme: Scheme, properties: Readonly<Record<string, string>>): string {
  const root = `:root{${Object.entries(properties)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')}}`;
  return scheme === 'light' ? root : `@media (prefers-color-scheme:dark){${root}}`;
}
