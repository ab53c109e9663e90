import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { Translations } from '../i18n/translations.ts';

/** What a rule of the operator's module says, in the module's words; what it did not say, in the reader's language. */
export function moduleMessage(translations: Translations, { code, msg }: ModuleViolation): string {
  return code === 'policy_error' ? translations.t('policy.error') : msg;
}
