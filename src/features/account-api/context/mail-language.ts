import { matchLanguages } from '#browser/i18n/negotiate-language.ts';
import { refusal } from './graphql-refusal.ts';

/**
 * Returns the available language that best matches the requested one, for emails. Falls back to English.
 * @throws GraphQLError `BAD_USER_INPUT` if the tag is not a BCP 47 tag
 */
export function mailLanguage(tag: string, languages: readonly string[]): string {
  if (!isLanguageTag(tag)) throw refusal('BAD_USER_INPUT', 'language: not a BCP 47 language tag');
  return matchLanguages(tag, languages) ?? 'en';
}

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
