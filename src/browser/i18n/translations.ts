import type { OwnTranslations } from '#config/own-translations.ts';
import ar from '../../../locales/ar.json' with { type: 'json' };
import de from '../../../locales/de.json' with { type: 'json' };
import en from '../../../locales/en.json' with { type: 'json' };
import es from '../../../locales/es.json' with { type: 'json' };
import fr from '../../../locales/fr.json' with { type: 'json' };
import { Language, type Messages, type Translations } from './language.ts';
import { matchLanguages } from './negotiate-language.ts';

export type { MessageKey, Messages, Translations } from './language.ts';

/** All languages of the service. */
export interface TranslationCatalog {
  /** Tags in the order of the footer. */
  readonly languages: readonly string[];
  /** Keys of all messages. */
  readonly keys: ReadonlySet<string>;
  /** Returns English if the language is not among `languages`. */
  in(language: string): Translations;
  /** Returns unformatted messages for use elsewhere. Missing messages come from the fallback language. */
  messagesOf(language: string, keys: readonly string[]): Messages;
}

/** Loads the bundled languages, with the operator's texts and languages. */
export function loadTranslations(own: OwnTranslations = {}): TranslationCatalog {
  const bundled: Readonly<Record<string, Messages>> = { en, de, fr, es, ar };
  const added = Object.keys(own).filter((tag) => !(tag in bundled));
  const merged = [...Object.keys(bundled), ...added].map((tag) => [tag, { ...bundled[tag], ...own[tag] }] as const);
  return createCatalog({ ...Object.fromEntries(merged), en: { ...en, ...own['en'] } });
}

/** Creates a catalog from message files. The other languages fall back to `en`. */
export function createCatalog(
  files: Readonly<Record<string, Messages>> & { readonly en: Messages },
): TranslationCatalog {
  const english = new Language('en', files.en, undefined);
  const languages = new Map<string, Language>([['en', english]]);
  // A language comes before its variants, which fall back to it.
  for (const tag of Object.keys(files).toSorted((left, right) => left.length - right.length)) {
    if (tag !== 'en') languages.set(tag, new Language(tag, files[tag] ?? {}, ancestorOf(tag, languages) ?? english));
  }
  return {
    languages: ['en', ...Object.keys(files).filter((tag) => tag !== 'en')],
    keys: new Set(Object.keys(files.en)),
    in: (language) => languages.get(language) ?? english,
    messagesOf: (language, keys) => (languages.get(language) ?? english).messagesOf(keys),
  };
}

/** Returns the language that this one is a variant of. */
function ancestorOf(tag: string, languages: ReadonlyMap<string, Language>): Language | undefined {
  const found = matchLanguages(tag, [...languages.keys()]);
  return found === undefined ? undefined : languages.get(found);
}
