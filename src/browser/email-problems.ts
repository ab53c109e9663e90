import type { EmailProblem } from '#domain/accounts/email-authentications/email-policy.ts';
import type { FormProblem } from './components/form.tsx';
import type { MessageKey, Translations } from './i18n/translations.ts';
import { moduleProblem } from './module-problems.ts';

const MESSAGES: Record<Extract<'required' | EmailProblem, string>, MessageKey> = {
  required: 'email.required',
  invalid: 'recover.email_invalid',
  'email-banned': 'email.banned',
  'email-domain-banned': 'email.domain_banned',
  'email-domain-not-allowed': 'email.domain_not_allowed',
  'email-not-allowed': 'email.not_allowed',
  'email-unreachable': 'email.unreachable',
};

/** Returns a problem of the field `email`, with the codes of browser-flows 5.6. */
export function emailProblem(translations: Translations, problem: 'required' | EmailProblem): FormProblem {
  if (typeof problem !== 'string') return moduleProblem(translations, problem, 'email');
  return { code: problem, field: 'email', message: translations.t(MESSAGES[problem]) };
}
