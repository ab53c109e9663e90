import type { StrengthHint } from '#domain/accounts/passwords/estimate-strength.ts';
import type { NewPasswordProblem } from '#domain/accounts/passwords/new-password.ts';
import { newPasswordProblem } from './form-problems.ts';
import type { MessageKey, Translations } from './i18n/translations.ts';

const HINTS: Readonly<Record<StrengthHint, MessageKey>> = {
  allUppercase: 'suggestion.all_uppercase',
  anotherWord: 'suggestion.another_word',
  associatedYears: 'suggestion.associated_years',
  capitalization: 'suggestion.capitalization',
  dates: 'suggestion.dates',
  l33t: 'suggestion.substitutions',
  longerKeyboardPattern: 'suggestion.keyboard_pattern',
  noNeed: 'suggestion.no_need',
  recentYears: 'suggestion.recent_years',
  repeated: 'suggestion.repeated',
  reverseWords: 'suggestion.reversed_words',
  sequences: 'suggestion.sequences',
  useWords: 'suggestion.use_words',
};

/**
 * Returns what is wrong with a new password and how to improve it, one sentence each.
 * @param minimum minimum number of characters
 */
export function passwordSuggestions(
  translations: Translations,
  rejected: NewPasswordProblem,
  minimum: number,
): string[] {
  const message = messageOf(translations, rejected, minimum);
  return [message, ...(rejected.strength?.hints ?? []).map((hint) => translations.t(HINTS[hint]))];
}

function messageOf(translations: Translations, { problem }: NewPasswordProblem, minimum: number): string {
  switch (problem) {
    case 'required':
      return translations.t('field.password_required');
    case 'password_unchanged':
      return translations.t('password_change.unchanged');
    default:
      return newPasswordProblem(translations, 'new_password', problem, minimum).message;
  }
}
