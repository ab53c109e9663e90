import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SetDisplayName } from './profile.generated.ts';

const FORM = 'display-name';
const MAX_CHARACTERS = 255;

/** The display name, which other users see, with a button to change it. `name`: null for none. */
export function DisplayName({
  userId,
  name,
  mayChange,
}: {
  userId: string;
  name: string | null;
  mayChange: boolean;
}): VNode {
  const { t } = useTranslations();
  const [isEditing, setEditing] = useState(false);
  return (
    <div class="row">
      {name === null ? t('account.display_name.none') : <bdi>{name}</bdi>}
      {mayChange && (
        <Button kind="secondary" label={t('account.display_name.edit')} onClick={() => setEditing(true)}>
          {t('account.edit')}
        </Button>
      )}
      {isEditing && <DisplayNameDialog userId={userId} name={name ?? ''} onClose={() => setEditing(false)} />}
    </div>
  );
}

function DisplayNameDialog({ userId, name, onClose }: { userId: string; name: string; onClose: () => void }): VNode {
  const { t } = useTranslations();
  const announce = useAnnounce();
  const form = useForm({ display_name: name });
  const kept = useMemo(() => ({ name: FORM, values: form.values }), [form.values]);
  const { run, isPending, problem } = useAction(SetDisplayName, kept);
  const submit = async () => {
    const typed = form.values.display_name.trim();
    const status = (await run({ userId, displayName: typed === '' ? null : typed }))?.setDisplayName.status;
    if (status === 'SET') {
      onClose();
      announce(t('account.display_name.saved'));
    } else if (status === 'INVALID') form.reject({ display_name: t('account.display_name.invalid') });
    else if (status !== undefined) form.reject({ display_name: t('account.problem.general') });
  };
  return (
    <Dialog title={t('account.display_name.edit')} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        <TextField
          name="display_name"
          label={t('account.display_name.title')}
          autocomplete="name"
          maxLength={MAX_CHARACTERS}
          hint={t('account.display_name.hint')}
          value={form.values.display_name}
          error={form.errors.display_name}
          onInput={(value) => form.set('display_name', value)}
        />
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button isPending={isPending}>{t('account.save')}</Button>
          <Button
            kind="secondary"
            isDisabled={isPending || form.values.display_name === ''}
            onClick={() => {
              form.set('display_name', '');
              document.getElementById('display_name')?.focus();
            }}
          >
            {t('account.display_name.clear')}
          </Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}
