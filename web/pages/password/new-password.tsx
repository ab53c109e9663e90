import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { HiddenUsername } from '../../../src/browser/components/hidden-username.tsx';
import { PasswordField } from '../../components/fields.tsx';
import type { useForm } from '../../components/form.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AreaTranslations, useTranslations } from '../../i18n/translations.ts';
import { StrengthMeter } from './strength-meter.tsx';

/** Fields of every form that sets a password, in order. */
type Name = 'new_password' | 'new_password_confirm';
type Values = Readonly<Record<Name, string>>;
type NewPasswordForm = Pick<ReturnType<typeof useForm<Name>>, 'values' | 'errors' | 'set' | 'mark'>;

export const NEW_PASSWORD: Values = { new_password: '', new_password_confirm: '' };

/** Validates the fields in the browser. The server has the final say. */
export function findNewPasswordErrors(values: Values, { t }: AreaTranslations): Partial<Record<Name, string>> {
  if (values.new_password === '') return { new_password: t('field.password_required') };
  if (values.new_password_confirm === '') return { new_password_confirm: t('field.password_confirm_required') };
  if (isRepeated(values)) return {};
  return { new_password_confirm: t('field.password_mismatch') };
}

function isRepeated(values: Values): boolean {
  return values.new_password === values.new_password_confirm;
}

/** A new password and its confirmation. The hidden username lets password managers choose the right entry. */
export function NewPasswordFields({
  form,
  username,
  minimumScore,
}: {
  form: NewPasswordForm;
  username: string;
  minimumScore: number;
}): VNode {
  const { t } = useTranslations();
  const { minimumPasswordLength } = useConfig();
  const [isWanted, setWanted] = useState(false);
  const { values, errors } = form;
  const compare = () => {
    if (values.new_password_confirm === '') return;
    form.mark('new_password_confirm', isRepeated(values) ? undefined : t('field.password_mismatch'));
  };
  return (
    <>
      <HiddenUsername username={username} />
      <PasswordField
        name="new_password"
        label={t('account.password.new')}
        autocomplete="new-password"
        hint={t('field.password_hint', { minimum: minimumPasswordLength })}
        value={values.new_password}
        error={errors.new_password}
        onInput={(value) => form.set('new_password', value)}
        onFocus={() => setWanted(true)}
        onBlur={compare}
      >
        <StrengthMeter
          password={values.new_password}
          username={username}
          minimumScore={minimumScore}
          isWanted={isWanted}
        />
      </PasswordField>
      <PasswordField
        name="new_password_confirm"
        label={t('account.password.confirm')}
        autocomplete="new-password"
        value={values.new_password_confirm}
        error={errors.new_password_confirm}
        onInput={(value) => form.set('new_password_confirm', value)}
        onBlur={compare}
      />
    </>
  );
}
