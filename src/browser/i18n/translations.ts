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

/**
 * Creates a catalog of the given languages and `en`. The other languages fall back to `en`, and their messages are read at
 * first use.
 */
export function createCatalog(tags: readonly string[], read: (tag: string) => Messages): TranslationCatalog {
  const english = new Language('en', read('en'), undefined);
  const others = tags.filter((tag) => tag !== 'en');
  // A language comes before its variants, which fall back to it.
  const byLength = others.toSorted((left, right) => left.length - right.length);
  const ancestors = new Map(
    byLength.map((tag, index) => [tag, matchLanguages(tag, ['en', ...byLength.slice(0, index)]) ?? 'en'] as const),
  );
  const languages = new Map<string, Language>([['en', english]]);
  const languageOf = (tag: string): Language => {
    const known = languages.get(tag);
    if (known !== undefined) return known;
    const ancestor = ancestors.get(tag);
    if (ancestor === undefined) return english;
    const language = new Language(tag, read(tag), languageOf(ancestor));
    languages.set(tag, language);
    return language;
  };
  return {
    languages: ['en', ...others],
    keys: new Set(Object.keys(read('en'))),
    in: languageOf,
    messagesOf: (language, keys) => languageOf(language).messagesOf(keys),
  };
}
