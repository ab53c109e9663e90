import type { VNode } from 'preact';
import type { MessageKey, Translations } from '../i18n/translations.ts';
import { PasswordField } from './fields.tsx';
import type { FormProblem } from './form.tsx';
import { StrengthMeter, type StrengthRules } from './strength-meter.tsx';

/**
 * A new password and its confirmation: inputs with this name and with `NAME_confirm`. The form must also have an input
 * `username`, which may be `HiddenUsername`, and the page must set `hasNewPassword`.
 */
export function NewPasswordFields({
  translations,
  name,
  label,
  confirmLabel,
  rules,
  problems,
}: {
  translations: Translations;
  name: 'password' | 'new_password';
  label: MessageKey;
  confirmLabel: MessageKey;
  rules: StrengthRules;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <PasswordField
        name={name}
        label={translations.t(label)}
        autocomplete="new-password"
        hint={translations.t('field.password_hint', { minimum: rules.minimumLength })}
        translations={translations}
        problems={problems}
      >
        <StrengthMeter translations={translations} passwordName={name} usernameName="username" rules={rules} />
      </PasswordField>
      <PasswordField
        name={`${name}_confirm`}
        label={translations.t(confirmLabel)}
        autocomplete="new-password"
        translations={translations}
        problems={problems}
      />
    </>
  );
}
