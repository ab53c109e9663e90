import type { PasswordProblem } from '#domain/accounts/passwords/password-rules.ts';
import type { FormProblem } from './components/form.tsx';
import type { Translations } from './i18n/translations.ts';
import { moduleProblem } from './module-problems.ts';

/** Why the whole form with a new password was rejected, regardless of the entered values. */
export type CommonRefusal =
  | { readonly reason: 'csrf-expired' }
  | { readonly reason: 'rate-limited' | 'overloaded'; readonly retryAfterSeconds: number };

export function commonRefusalProblem(translations: Translations, refusal: CommonRefusal): FormProblem {
  switch (refusal.reason) {
    case 'csrf-expired':
      return { code: 'csrf_expired', message: translations.t('form.csrf_expired') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(refusal.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: translations.t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'overloaded':
      return { code: 'overloaded', message: translations.t('register.overloaded') };
  }
}

/** Returns the rule that a new password breaks as a problem of its field, with the codes of browser-flows 5.3. */
export function newPasswordProblem(
  translations: Translations,
  field: string,
  problem: PasswordProblem,
  minimum: number,
): FormProblem {
  if (typeof problem !== 'string') return moduleProblem(translations, problem, field);
  switch (problem) {
    case 'password_too_long':
      return { code: problem, field, message: translations.t('register.password_too_long') };
    case 'password_too_short':
      return { code: 'password_too_weak', field, message: translations.t('register.password_too_short', { minimum }) };
    case 'password_compromised':
      return { code: problem, field, message: translations.t('register.password_compromised') };
    case 'password_leaked':
      return { code: 'password_compromised', field, message: translations.t('register.password_leaked') };
    case 'password_too_weak':
      return { code: problem, field, message: translations.t('register.password_too_weak') };
    case 'password_invalid':
      return { code: 'invalid', field, message: translations.t('register.password_unreadable') };
  }
}
