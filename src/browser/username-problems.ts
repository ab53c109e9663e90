/** What forms say about an unavailable username, with the codes of browser-flows 5.5. */
import { type NamePolicy, type NameProblem, suggestName } from '#domain/accounts/registrations/registration-policy.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { FormProblem } from './components/form.tsx';
import type { MessageKey, Translations } from './i18n/translations.ts';
import { moduleProblem } from './module-problems.ts';

const NAME_MESSAGES: Record<Exclude<NameProblem, 'username-too-short'>, MessageKey> = {
  exists: 'username.exists',
  'username-all-numeric': 'username.all_numeric',
  'username-banned': 'username.banned',
  'username-identifier': 'username.identifier',
  'username-invalid-chars': 'username.invalid_chars',
  'username-not-allowed': 'username.not_allowed',
  'username-reserved': 'username.reserved',
  'username-too-long': 'username.too_long',
};

/** Returns a problem of the field `username`, with the codes of browser-flows 5.5. */
function nameProblem(
  translations: Translations,
  problem: 'required' | NameProblem | ModuleViolation,
  suggestion: string | undefined,
): FormProblem {
  const field = 'username';
  if (typeof problem !== 'string') return moduleProblem(translations, problem, field);
  if (problem === 'required' || problem === 'username-too-short') {
    return { code: 'required', field, message: translations.t('username.required') };
  }
  if (problem === 'username-invalid-chars' && suggestion !== undefined) {
    return { code: problem, field, message: translations.t('username.capitals', { suggestion }) };
  }
  return { code: problem, field, message: translations.t(NAME_MESSAGES[problem]) };
}

/** What the page shows after a username was rejected. */
export interface RejectedName {
  /** The suggestion if only uppercase letters were wrong, otherwise the entered value. */
  readonly username: string;
  readonly problems: readonly FormProblem[];
}

export function rejectedName(
  translations: Translations,
  typed: string,
  problems: readonly ('required' | NameProblem | ModuleViolation)[],
  policy: NamePolicy,
): RejectedName {
  const isMisspelt = problems.every((problem) => problem === 'username-invalid-chars');
  const suggestion = isMisspelt ? suggestName(typed, policy) : undefined;
  return {
    username: suggestion ?? typed,
    problems: problems.map((problem) => nameProblem(translations, problem, suggestion)),
  };
}
