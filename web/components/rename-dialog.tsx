import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../src/browser/components/text.tsx';
import type { Problem } from '../api/problem.ts';
import { useAnnounce } from '../frame/announcements.tsx';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { DialogButtons } from './dialog-buttons.tsx';
import { TextField } from './fields.tsx';
import { Form, useForm } from './form.tsx';
import { ProblemNotice } from './states.tsx';

/** Maximum length for sessions and passkeys; homeservers do not accept longer device names. */
const MAX_CHARACTERS = 100;

interface RenameDialogProps {
  readonly title: string;
  /** The current name. */
  readonly name: string;
  readonly hint?: string;
  /** Shown if the object no longer exists. */
  readonly goneText: string;
  readonly isPending: boolean;
  readonly problem: Problem | undefined;
  /** Resolves to undefined if the request failed; `problem` has the reason. Later versions may add results. */
  readonly rename: (name: string) => Promise<'UPDATED' | 'NOT_FOUND' | undefined>;
  readonly onClose: () => void;
}

/** Asks the user for a new name. */
export function RenameDialog(props: RenameDialogProps): VNode {
  const { title, hint, goneText, isPending, problem, rename, onClose } = props;
  const { t } = useTranslations();
  const announce = useAnnounce();
  const { values, errors, set, reject } = useForm({ new_name: props.name });
  const [isGone, setGone] = useState(false);
  const submit = async () => {
    const typed = values.new_name.trim();
    if (typed === '') return reject({ new_name: t('account.rename.required') });
    if (/\p{Cc}/u.test(typed)) return reject({ new_name: t('account.display_name.invalid') });
    const status = await rename(typed);
    if (status === 'UPDATED') {
      onClose();
      announce(t('account.rename.saved'));
    } else if (status === 'NOT_FOUND') setGone(true);
    else if (status !== undefined) reject({ new_name: t('account.problem.general') });
  };
  return (
    <Dialog title={title} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {isGone && (
          <div role="alert">
            <Notice kind="warning">{goneText}</Notice>
          </div>
        )}
        <TextField
          name="new_name"
          label={t('account.rename.name')}
          autocomplete="off"
          maxLength={MAX_CHARACTERS}
          {...(hint !== undefined && { hint })}
          value={values.new_name}
          error={errors.new_name}
          onInput={(value) => set('new_name', value)}
        />
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button isPending={isPending}>{t('account.save')}</Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}
