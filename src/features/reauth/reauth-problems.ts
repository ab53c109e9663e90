import type { FormProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/translations.ts';
import type { ReauthOutcome } from '#domain/browser-sessions/reauthenticate.ts';

/** Why the form is shown again. */
export type ReauthProblem =
  | Extract<ReauthOutcome, { readonly reason: 'required' | 'rate-limited' | 'invalid-credentials' | 'overloaded' }>
  | { readonly reason: 'csrf-expired' | 'invalid-method' };

/** The same in words, with the codes of browser-flows 3.4. */
export function reauthProblem(translations: Translations, problem: ReauthProblem): FormProblem {
  switch (problem.reason) {
    case 'required':
      return { code: 'required', field: 'password', message: translations.t('login.password_required') };
    case 'invalid-credentials':
      return { code: 'invalid_credentials', field: 'password', message: translations.t('reauth.invalid_credentials') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: translations.t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'csrf-expired':
      return { code: 'csrf_expired', message: translations.t('form.csrf_expired') };
    case 'invalid-method':
      return { code: 'invalid_action', message: translations.t('form.invalid_action') };
    case 'overloaded':
      return { code: 'overloaded', message: translations.t('login.overloaded') };
  }
}
