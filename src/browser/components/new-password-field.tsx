import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { PasswordField } from './fields.tsx';
import type { FormProblem } from './form.tsx';
import { StrengthMeter, type StrengthRules } from './strength-meter.tsx';

/**
 * A new password, entered once: the button "Show" lets users check it. The form must also have an input `username`,
 * and the page must set `hasNewPassword`.
 */
export function NewPasswordField({
  translations,
  rules,
  problems,
}: {
  translations: Translations;
  rules: StrengthRules;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <PasswordField
      name="password"
      label={translations.t('login.password')}
      autocomplete="new-password"
      hint={translations.t('field.password_hint', { minimum: rules.minimumLength })}
      translations={translations}
      problems={problems}
    >
      <StrengthMeter translations={translations} passwordName="password" usernameName="username" rules={rules} />
    </PasswordField>
  );
}
