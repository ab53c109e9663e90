import type { FormProblem } from '#browser/components/form.tsx';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import { type NamePolicy, type NameProblem, suggestName } from '#domain/accounts/registrations/registration-policy.ts';
import type { SubmissionProblem } from '#domain/accounts/registrations/start-registration.ts';

/** Why a form was refused as a whole, whatever was typed. */
export type FormRefusal =
  | { readonly reason: 'csrf-expired' | 'invalid-action' | 'requester-banned' | 'unknown-provider' }
  | { readonly reason: 'rate-limited' | 'overloaded'; readonly retryAfterSeconds: number };

export function refusalProblem(translations: Translations, refusal: FormRefusal): FormProblem {
  switch (refusal.reason) {
    case 'csrf-expired':
      return { code: 'csrf_expired', message: translations.t('form.csrf_expired') };
    case 'invalid-action':
      return { code: 'invalid_action', message: translations.t('form.invalid_action') };
    case 'requester-banned':
      return { code: 'requester-banned', message: translations.t('register.requester_banned') };
    case 'unknown-provider':
      return { code: 'unknown_provider', message: translations.t('register.unknown_provider') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(refusal.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: translations.t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'overloaded':
      return { code: 'overloaded', message: translations.t('register.overloaded') };
  }
}

const NAME_MESSAGES: Record<Exclude<NameProblem, 'username-too-short'>, MessageKey> = {
  exists: 'username.exists',
  'username-all-numeric': 'username.all_numeric',
  'username-banned': 'username.banned',
  'username-invalid-chars': 'username.invalid_chars',
  'username-not-allowed': 'username.not_allowed',
  'username-reserved': 'username.reserved',
  'username-too-long': 'username.too_long',
};

/** A problem of the field `username`, with the codes of browser-flows 5.5. */
export function nameProblem(
  translations: Translations,
  problem: 'required' | NameProblem,
  suggestion: string | undefined,
): FormProblem {
  const field = 'username';
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
  /** The suggestion when only upper case was wrong, else what was typed. */
  readonly username: string;
  readonly problems: readonly FormProblem[];
}

export function rejectedName(
  translations: Translations,
  typed: string,
  problems: readonly ('required' | NameProblem)[],
  policy: NamePolicy,
): RejectedName {
  const isMisspelt = problems.every((problem) => problem === 'username-invalid-chars');
  const suggestion = isMisspelt ? suggestName(typed, policy) : undefined;
  return {
    username: suggestion ?? typed,
    problems: problems.map((problem) => nameProblem(translations, problem, suggestion)),
  };
}

type OtherProblem = Exclude<SubmissionProblem, { readonly field: 'username' }>;

/** A problem of another field of the first form, with the codes of browser-flows 5.3. */
export function submissionProblem(
  translations: Translations,
  { field, problem }: OtherProblem,
  minimum: number,
): FormProblem {
  switch (problem) {
    case 'required':
      return { code: problem, field, message: translations.t(REQUIRED[field]) };
    case 'password_mismatch':
      return { code: problem, field, message: translations.t('register.password_mismatch') };
    case 'password_too_long':
      return { code: problem, field, message: translations.t('register.password_too_long') };
    case 'password_too_short':
      return { code: 'password_too_weak', field, message: translations.t('register.password_too_short', { minimum }) };
    case 'password_compromised':
      return { code: problem, field, message: translations.t('register.password_compromised') };
    case 'password_too_weak':
      return { code: problem, field, message: translations.t('register.password_too_weak') };
    case 'password_invalid':
      return { code: 'invalid', field, message: translations.t('register.password_unreadable') };
  }
}

const REQUIRED: Record<OtherProblem['field'], MessageKey> = {
  accept_terms: 'register.terms_required',
  password: 'register.password_required',
  password_confirm: 'register.password_confirm_required',
};
