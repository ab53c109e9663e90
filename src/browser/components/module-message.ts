import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { Translations } from '../i18n/translations.ts';

/** Returns the message of a policy module's violation, or a general message in the user's language. */
export function moduleMessage(translations: Translations, { code, msg }: ModuleViolation): string {
  return code === 'policy_error' ? translations.t('policy.error') : msg;
}
