/**
 * The bundled languages. To add one, add its row here and its texts in `locales/TAG.json`; everything else is derived
 * from this table.
 */

interface BundledLanguage {
  /** BCP 47 tag. */
  readonly tag: string;
  /** Name in the language itself, as in the language menu. */
  readonly name: string;
}

/** In the order of the language menu: English, then by name. */
const ROWS = [
  { tag: 'en', name: 'English' },
  { tag: 'cs', name: 'Čeština' },
  { tag: 'da', name: 'Dansk' },
  { tag: 'de', name: 'Deutsch' },
  { tag: 'et', name: 'Eesti' },
  { tag: 'es', name: 'Español' },
  { tag: 'fr', name: 'Français' },
  { tag: 'it', name: 'Italiano' },
  { tag: 'hu', name: 'Magyar' },
  { tag: 'nl', name: 'Nederlands' },
  { tag: 'nb', name: 'Norsk bokmål' },
  { tag: 'pl', name: 'Polski' },
  { tag: 'pt', name: 'Português' },
  { tag: 'pt-BR', name: 'Português (Brasil)' },
  { tag: 'sk', name: 'Slovenčina' },
  { tag: 'sl', name: 'Slovenščina' },
  { tag: 'fi', name: 'Suomi' },
  { tag: 'sv', name: 'Svenska' },
  { tag: 'tr', name: 'Türkçe' },
  { tag: 'ru', name: 'Русский' },
  { tag: 'uk', name: 'Українська' },
  { tag: 'he', name: 'עברית' },
  { tag: 'ar', name: 'العربية' },
  { tag: 'ja', name: '日本語' },
  { tag: 'zh-Hans', name: '简体中文' },
  { tag: 'zh-Hant', name: '繁體中文' },
  { tag: 'ko', name: '한국어' },
] as const satisfies readonly BundledLanguage[];

/** BCP 47 tags, in the order of the language menu. */
export const BUNDLED_LANGUAGES: readonly string[] = ROWS.map(({ tag }) => tag);

const NAMES = new Map<string, string>(ROWS.map(({ tag, name }) => [tag, name]));

/** Returns the name of a language in this language, for example "Español". */
export function languageName(tag: string): string {
  const known = NAMES.get(tag);
  if (known !== undefined) return known;
  const name = new Intl.DisplayNames([tag], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag;
  const named = name.slice(0, 1).toLocaleUpperCase(tag) + name.slice(1);
  NAMES.set(tag, named);
  return named;
}
