import ar from '../../../locales/ar.json' with { type: 'json' };
import de from '../../../locales/de.json' with { type: 'json' };
import en from '../../../locales/en.json' with { type: 'json' };
import es from '../../../locales/es.json' with { type: 'json' };
import fr from '../../../locales/fr.json' with { type: 'json' };
import { Language, type Messages, type Translations } from './language.ts';

export type { MessageKey, Messages, Translations } from './language.ts';

/** All languages of the service. */
export interface TranslationCatalog {
  /** Tags in the order in which the footer lists them. */
  readonly languages: readonly string[];
  /** Of all texts that there are. */
  readonly keys: ReadonlySet<string>;
  /** English when the language is not among `languages`. */
  in(language: string): Translations;
}

/** The bundled languages. */
export function loadTranslations(): TranslationCatalog {
  return createCatalog({ en, de, fr, es, ar });
}

/** A catalog of the given message files; `en` is what the others fall back to. */
export function createCatalog(
  files: Readonly<Record<string, Messages>> & { readonly en: Messages },
): TranslationCatalog {
  const english = new Language('en', files.en, undefined);
  const languages = new Map<string, Translations>([['en', english]]);
  for (const [tag, messages] of Object.entries(files)) {
    if (tag !== 'en') languages.set(tag, new Language(tag, messages, english));
  }
  return {
    languages: [...languages.keys()],
    keys: new Set(Object.keys(files.en)),
    in: (language) => languages.get(language) ?? english,
  };
}
