import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { RemovePasskey, SetPasskeyName } from './passkeys.generated.ts';

interface DialogProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

const MAX_NAME_CHARACTERS = 100;

export function RenamePasskeyDialog({ id, name, onClose }: DialogProps): VNode {
  const { t } = useTranslations();
  const { values, errors, set, reject } = useForm({ 'passkey-name': name });
  const { run, isPending, problem } = useAction(SetPasskeyName);
  const [isGone, setGone] = useState(false);
  const submit = async () => {
    const wanted = values['passkey-name'].trim();
    if (wanted === '') return reject({ 'passkey-name': t('account.rename.required') });
    const status = (await run({ passkeyId: id, name: wanted }))?.setPasskeyName.status;
    if (status === 'UPDATED') onClose();
    else if (status !== undefined) setGone(true);
  };
  return (
    <Dialog title={t('account.passkeys.rename')} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {isGone && (
          <div role="alert">
            <Notice kind="warning">{t('account.passkeys.gone')}</Notice>
          </div>
        )}
        <TextField
          name="passkey-name"
          label={t('account.rename.name')}
          value={values['passkey-name']}
          onInput={(value) => set('passkey-name', value)}
          autocomplete="off"
          maxLength={MAX_NAME_CHARACTERS}
          error={errors['passkey-name']}
        />
        <div class="dialog-buttons">
          <Button isPending={isPending}>{t('account.save')}</Button>
          <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
            {t('account.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const REFUSALS = {
  NOT_FOUND: 'account.passkeys.gone',
  LAST_LOGIN_METHOD: 'account.passkeys.last',
} as const satisfies Record<string, AreaKey>;

/** Asks before a person loses a way to sign in. */
export function RemovePasskeyDialog({ id, name, onClose }: DialogProps): VNode {
  const { t, rich } = useTranslations();
  const kept = useMemo(() => ({ name: 'remove-passkey', values: { id } }), [id]);
  const { run, isPending, problem } = useAction(RemovePasskey, kept);
  const [refusal, setRefusal] = useState<AreaKey | undefined>();
  const confirm = async () => {
    setRefusal(undefined);
    const status = (await run({ passkeyId: id }))?.removePasskey.status;
    if (status === 'REMOVED') onClose();
    else if (status !== undefined) setRefusal(REFUSALS[status] ?? 'account.problem.general');
  };
  return (
    <Dialog
      title={rich('account.passkeys.question', { name: <bdi>{name}</bdi> })}
      isPending={isPending}
      onClose={onClose}
    >
      <p>{t('account.passkeys.question_text')}</p>
      <ProblemNotice problem={problem} />
      {refusal !== undefined && (
        <div role="alert">
          <Notice kind="warning">{t(refusal)}</Notice>
        </div>
      )}
      <div class="dialog-buttons">
        {refusal === undefined && (
          <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
            {t('account.passkeys.remove')}
          </Button>
        )}
        <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
          {t(refusal === undefined ? 'account.cancel' : 'account.close')}
        </Button>
      </div>
    </Dialog>
  );
}
