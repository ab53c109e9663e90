import type { FormProblem } from '#browser/components/form.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { SignInOutcome } from '#domain/browser-sessions/sign-in.ts';

export const MAX_USERNAME_CHARACTERS = 255;

/** Why the sign-in form is shown again. */
export type LoginProblem =
  | Exclude<SignInOutcome, { readonly ok: true } | { readonly reason: 'locked' | 'deactivated' }>
  | { readonly reason: 'csrf-expired' | 'too-long' };

/** The problem in words, with the codes of browser-flows 3.2.4. */
export function loginProblems(
  translations: Translations,
  problem: LoginProblem,
  options: { readonly acceptsEmail: boolean },
): FormProblem[] {
  const t = translations.t.bind(translations);
  switch (problem.reason) {
    case 'required':
      return problem.fields.map((field) => ({ code: 'required', field, message: t(requiredMessage(field, options)) }));
    case 'too-long': {
      const message = t('form.too_long', { max: MAX_USERNAME_CHARACTERS });
      return [{ code: 'too_long', field: 'username', message }];
    }
    case 'invalid-credentials':
      return [{ code: 'invalid_credentials', message: t('login.invalid_credentials') }];
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return [{ code: 'rate_limit_exceeded', message: t('login.rate_limit_exceeded', { minutes }) }];
    }
    case 'csrf-expired':
      return [{ code: 'csrf_expired', message: t('form.csrf_expired') }];
    case 'overloaded':
      return [{ code: 'overloaded', message: t('login.overloaded') }];
  }
}

function requiredMessage(field: 'username' | 'password', { acceptsEmail }: { readonly acceptsEmail: boolean }) {
  if (field === 'password') return 'login.password_required';
  return acceptsEmail ? 'login.username_or_email_required' : 'login.username_required';
}
