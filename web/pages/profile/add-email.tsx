import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { PasswordField, TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { AddEmail, type AddEmailData } from './emails.generated.ts';

export const ADD_FORM = 'add-email';

type TestResponse = AddEmailData['startEmailAuthentication'];

/**
 * Asks for an address and mails a code there, which the next page asks for.
 * @param hasPassword whether the user confirms with the password
 * @param typed values entered before a reauthentication
 */
export function AddEmailDialog({
  hasPassword,
  typed = '',
  onClose,
}: {
  hasPassword: boolean;
  typed?: string | undefined;
  onClose: () => void;
}): VNode {
  const { t, language } = useTranslations();
  const { route } = useLocation();
  const pathTo = usePathTo();
  const form = useForm({ email: typed, password: '' });
  const { email, password } = form.values;
  const kept = useMemo(() => ({ name: ADD_FORM, values: { email } }), [email]);
  const { run, isPending, problem } = useAction(AddEmail, kept);
  const submit = async () => {
    const missing = {
      ...(email.trim() === '' && { email: t('account.emails.required') }),
      ...(hasPassword && password === '' && { password: t('account.confirm.required') }),
    };
    form.reject(missing);
    if (Object.keys(missing).length > 0) return;
    const data = await run({ email: email.trim(), language, ...(hasPassword && { password }) });
    if (data !== undefined) show(data.startEmailAuthentication);
  };
  const show = (response: TestResponse) => {
    switch (response.status) {
      case 'STARTED':
        if (response.authentication !== null) route(pathTo(`emails/${response.authentication.id}/verify`));
        return;
      case 'INVALID_EMAIL_ADDRESS':
        return form.reject({ email: t('account.emails.invalid') });
      case 'IN_USE':
        return form.reject({ email: t('account.emails.own') });
      case 'INCORRECT_PASSWORD':
        form.set('password', '');
        return form.reject({ password: t('account.confirm.incorrect') });
      case 'RATE_LIMITED':
        return form.reject({ email: t('account.problem.rate_limited') });
      case 'DENIED':
        return form.reject({ email: response.violations?.join(' ') || t('account.problem.forbidden') });
      default:
        return form.reject({ email: t('account.problem.general') });
    }
  };
  return (
    <Dialog title={t('account.emails.add')} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        <TextField
          name="email"
          label={t('account.emails.address')}
          autocomplete="email"
          keyboard="email"
          hint={t('account.emails.hint')}
          value={email}
          error={form.errors.email}
          onInput={(value) => form.set('email', value)}
        />
        {hasPassword && (
          <PasswordField
            name="password"
            label={t('account.confirm.password')}
            autocomplete="current-password"
            value={password}
            error={form.errors.password}
            onInput={(value) => form.set('password', value)}
          />
        )}
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button isPending={isPending}>{t('account.emails.send_code')}</Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}
