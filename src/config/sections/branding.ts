import { z } from 'zod';
import { MIN_TEXT_CONTRAST, readable, type Theme as Scheme, themeContrast } from '#platform/base/contrast.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { bool, type Immutable, mapping, path, text, webUrl } from '#platform/config/values.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import type { Theme } from '#vocabulary/theme.ts';

/** Keys whose value is the path of a picture. */
export const PICTURE_KEYS = ['logo', 'logo_dark', 'favicon'] as const;

export interface PictureConfig {
  readonly format: 'svg' | 'png';
  readonly content: Buffer;
}

export type Pictures = Readonly<Partial<Record<(typeof PICTURE_KEYS)[number], PictureConfig>>>;

const PICTURE = 'SVG or PNG, at most 256 KiB, read at start and on reload.';

export const brandingSection = rule(
  mapping({
    service_name: hint(text({ maximum: 100 }), { defaultText: 'host of `http.public_base`' })
      .optional()
      .describe('Service name shown on pages.'),
    logo: path().optional().describe(`Logo shown above every page instead of the service name. ${PICTURE}`),
    logo_dark: path().optional().describe(`Logo for the dark theme. ${PICTURE}`),
    favicon: path().optional().describe(`Icon for browser tabs and bookmarks. ${PICTURE}`),
    accent_color: hint(accentColor('light'), { defaultText: 'the bundled icon' })
      .optional()
      .describe(
        'Color of primary buttons, links and illustrations, in quotes. Requires a contrast of 4.5:1 on every ' +
          'page.',
      ),
    accent_color_dark: hint(accentColor('dark'), {
      defaultText: '`accent_color`, lightened until it is legible on dark pages',
    })
      .optional()
      .describe('Accent color for the dark theme.'),
    theme_file: path()
      .optional()
      .describe(
        'CSS file with custom properties for colors, font and corners of pages and emails, in `:root` and for dark ' +
          'pages. Read at start and on reload. Cannot be combined with `accent_color`.',
      ),
    policy_uri: webUrl().optional().describe('URL of the privacy policy, linked in the footer.'),
    tos_uri: webUrl().optional().describe('URL of the terms of service, linked in the footer.'),
    imprint: text({ maximum: 500 }).optional().describe('Text in the footer, for example the name of the operator.'),
    login_message: text({ maximum: 500 }).optional().describe('Plain text above the sign-in form.'),
    contact: text({
      maximum: 500,
      pattern: /^(?:https:\/\/[^\s/]|mailto:[^\s@]+@)[!-~]*$/,
      expected: 'expected a URI that starts with "https://" or "mailto:"',
    })
      .optional()
      .describe(
        'Where users get help, for example `mailto:help@example.org`; shown to users who are not in a group that may ' +
          'use an application.',
      ),
    security_contact: text({
      maximum: 500,
      pattern: /^(?:https:\/\/[^\s/]|mailto:[^\s@]+@|tel:\+?\d)[!-~]*$/,
      expected: 'expected a URI that starts with "https://", "mailto:" or "tel:"',
    })
      .optional()
      .describe(
        'Where to report vulnerabilities, for example `mailto:security@example.org`; published at ' +
          '`/.well-known/security.txt` (RFC 9116).',
      ),
    show_technical_info: bool().prefault(true).describe('The index page links to the discovery document.'),
  }),
  ['logo', 'logo_dark', 'theme_file', 'accent_color', 'accent_color_dark'],
  ({ logo, logo_dark, theme_file, accent_color, accent_color_dark }, problem) => {
    if (theme_file !== undefined && (accent_color ?? accent_color_dark) !== undefined)
      problem(['theme_file'], 'cannot be combined with "accent_color"; set --accent in the file');
    if (logo_dark !== undefined && logo === undefined) problem(['logo_dark'], 'needs "logo", which light pages show');
  },
);

/** `#rrggbb` with sufficient contrast on every background of the theme. */
function accentColor(theme: Scheme) {
  const error = 'expected a color in quotes: "#" and six hexadecimal digits';
  const schema = z
    .string({ error })
    .regex(/^#[0-9a-f]{6}$/i, { error, abort: true })
    .transform((value) => value.toLowerCase())
    .superRefine((color, context) => {
      const ratio = themeContrast(color, theme);
      if (ratio < MIN_TEXT_CONTRAST)
        context.addIssue({ code: 'custom', message: contrastMessage(color, theme, ratio) });
    });
  return hint(schema, { type: 'color' });
}

function contrastMessage(color: string, theme: Scheme, ratio: number): string {
  // Rounded down, so that a rejected ratio is never displayed as sufficient.
  const found = (Math.floor(ratio * 10) / 10).toFixed(1);
  const needed = `a contrast of ${MIN_TEXT_CONTRAST}:1 on ${theme} pages`;
  return `${color} is hard to read: it needs ${needed} and has ${found}:1; "${readable(color, theme)}" would do`;
}

export type BrandingConfig = Immutable<ReturnType<typeof brandingConfig>>;

export function brandingConfig(
  parsed: z.output<typeof brandingSection>,
  publicBase: string,
  { pictures, theme }: { readonly pictures: Pictures; readonly theme: Theme | undefined },
) {
  const accent = parsed.accent_color;
  return {
    serviceName: parsed.service_name ?? new URL(publicBase).hostname,
    policyUri: parsed.policy_uri,
    tosUri: parsed.tos_uri,
    imprint: parsed.imprint,
    loginMessage: parsed.login_message,
    /** A URI. */
    contact: parsed.contact,
    /** A URI. */
    securityContact: parsed.security_contact,
    showTechnicalInfo: parsed.show_technical_info,
    logo: pictures.logo,
    /** Replaces `logo` on dark pages. */
    logoDark: pictures.logo_dark,
    favicon: pictures.favicon,
    /** `#rrggbb` in lowercase, with sufficient contrast on every background of its theme. */
    accentColor: accent,
    /** Has sufficient contrast. */
    theme,
    accentColorDark: parsed.accent_color_dark ?? (accent === undefined ? undefined : readable(accent, 'dark')),
  };
}

export const indexSection = mapping({
  redirect: webUrl().optional().describe('Redirect target for visitors of the index page who are not signed in.'),
});

export const i18nSection = mapping({
  default_language: text({ maximum: 35 })
    .prefault('en')
    .describe(
      "Fallback language of pages if none of the user's languages is available: " +
        `${BUNDLED_LANGUAGES.map((tag) => `\`${tag}\``).join(', ')}, or a language in \`templates.translations_path\`.`,
    ),
});
