import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { PasswordField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { RemoveEmail } from './emails.generated.ts';

export const REMOVE_FORM = 'remove-email';

/**
 * Confirms the removal of an email address.
 * @param hasPassword whether the user confirms with the password
 */
export function RemoveEmailDialog({
  email: { id, email },
  hasPassword,
  onClose,
}: {
  email: { readonly id: string; readonly email: string };
  hasPassword: boolean;
  onClose: () => void;
}): VNode {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const form = useForm({ password: '' });
  const { password } = form.values;
  const kept = useMemo(() => ({ name: REMOVE_FORM, values: { id } }), [id]);
  const { run, isPending, problem } = useAction(RemoveEmail, kept);
  const [trouble, setTrouble] = useState<string | undefined>();
  const submit = async () => {
    setTrouble(undefined);
    if (hasPassword && password === '') return form.reject({ password: t('account.confirm.required') });
    const status = (await run({ id, ...(hasPassword && { password }) }))?.removeEmail.status;
    switch (status) {
      case undefined:
        return;
      case 'REMOVED':
        onClose();
        return announce(rich('account.emails.removed', { email: <bdi>{email}</bdi> }));
      case 'INCORRECT_PASSWORD':
        form.set('password', '');
        return form.reject({ password: t('account.confirm.incorrect') });
      case 'NOT_FOUND':
        return setTrouble(t('account.emails.gone'));
      default:
        return setTrouble(t('account.problem.general'));
    }
  };
  return (
    <Dialog
      title={rich('account.emails.remove_question', { email: <bdi>{email}</bdi> })}
      isPending={isPending}
      onClose={onClose}
    >
      <p>{t('account.emails.remove_text')}</p>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {trouble !== undefined && (
          <div role="alert">
            <Notice kind="warning">{trouble}</Notice>
          </div>
        )}
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
          <Button kind="danger" isPending={isPending}>
            {t('account.emails.remove')}
          </Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}
