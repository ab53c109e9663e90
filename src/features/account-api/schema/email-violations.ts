import { emailProblem } from '#browser/email-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import type { EmailProblem } from '#domain/accounts/email-authentications/email-policy.ts';
import { MAX_EMAILS } from '#domain/accounts/user-emails.ts';

/** Returns readable reasons why the operator's policy rejects an email address. */
export function emailViolations(translations: Translations, problems: readonly EmailProblem[]): string[] {
  return problems.map((problem) => emailProblem(translations, problem).message);
}

export function tooManyEmails(translations: Translations): string {
  return translations.t('email.too_many', { max: MAX_EMAILS });
}
