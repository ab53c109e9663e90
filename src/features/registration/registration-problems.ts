import { captchaProblem } from '#browser/captcha.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { type CommonRefusal, commonRefusalProblem, newPasswordProblem } from '#browser/form-problems.ts';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import type { SubmissionProblem } from '#domain/accounts/registrations/start-registration.ts';
import type { CaptchaRefusal } from '#domain/captcha/captcha.ts';

/** Why the whole form was rejected, regardless of the entered values. */
export type FormRefusal =
  | { readonly reason: 'invalid-action' | 'requester-banned' | 'unknown-provider' | 'homeserver-unavailable' }
  | CaptchaRefusal
  | CommonRefusal;

export function refusalProblem(translations: Translations, refusal: FormRefusal): FormProblem {
  switch (refusal.reason) {
    case 'invalid-action':
      return { code: 'invalid_action', message: translations.t('form.invalid_action') };
    case 'requester-banned':
      return { code: 'requester-banned', message: translations.t('register.requester_banned') };
    case 'unknown-provider':
      return { code: 'unknown_provider', message: translations.t('register.unknown_provider') };
    case 'homeserver-unavailable':
      return { code: 'homeserver_unavailable', message: translations.t('register.homeserver_unavailable') };
    case 'captcha-unsolved':
    case 'captcha-unavailable':
      return captchaProblem(translations, refusal.reason);
    default:
      return commonRefusalProblem(translations, refusal);
  }
}

/**
 * Returns a problem of the field `code`, or of the form if it no longer has that field. `invalid` means not six digits;
 * `invalid_code` means wrong, void or expired.
 */
export function emailCodeProblem(
  translations: Translations,
  code: 'invalid' | 'invalid_code',
  hasField = true,
): FormProblem {
  const message = translations.t(`verify_email.${code}`);
  return hasField ? { code, field: 'code', message } : { code, message };
}

/** Returns a problem of the field `token`. */
export function tokenProblem(translations: Translations, code: 'required' | 'invalid' | 'other_email'): FormProblem {
  return { code, field: 'token', message: translations.t(`token.${code}`) };
}

type OtherProblem = Exclude<SubmissionProblem, { readonly field: 'username' | 'email' | 'policy' }>;

/** Returns a problem of another field of the first form, with the codes of browser-flows 5.3. */
export function submissionProblem(
  translations: Translations,
  { field, problem }: OtherProblem,
  minimum: number,
): FormProblem {
  switch (problem) {
    case 'required':
      return { code: problem, field, message: translations.t(REQUIRED[field]) };
    case 'password_mismatch':
      return { code: problem, field, message: translations.t('field.password_mismatch') };
    default:
      return newPasswordProblem(translations, field, problem, minimum);
  }
}

const REQUIRED: Record<OtherProblem['field'], MessageKey> = {
  accept_terms: 'register.terms_required',
  password: 'field.password_required',
};
