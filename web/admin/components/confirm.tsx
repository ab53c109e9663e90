import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import type { TestResponse } from '../api/admin-client.ts';
import { useChange } from '../api/use-change.ts';
import { useAnnounce } from '../frame/live.tsx';
import { useTexts } from '../i18n/translations.ts';
import { ProblemNotice } from './loaded.tsx';

/** Asks before an action. Names the object and the consequence. If the action fails, the dialog stays and says why. */
export function Confirm({
  title,
  action,
  kind,
  done,
  typed,
  fields,
  onConfirm,
  onDone,
  onClose,
  children,
}: {
  title: string;
  /** Text of the button. */
  action: string;
  /** Of that button: `danger` if the action takes something away. */
  kind: 'primary' | 'danger';
  /** Reported after success. */
  done: string;
  /** For an irreversible action: the name of the object, which the user must type. */
  typed?: string;
  /** Choices that belong to the action. */
  fields?: ComponentChildren;
  onConfirm: () => Promise<TestResponse<unknown>>;
  onDone: () => void;
  onClose: () => void;
  /** The consequence. */
  children: ComponentChildren;
}): VNode {
  const { t } = useTexts();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const [text, setText] = useState('');
  const [error, setError] = useState<string | undefined>();
  const confirm = async (): Promise<void> => {
    if (typed !== undefined && text.trim() !== typed) {
      setError(t('admin.confirm.mismatch', { name: typed }));
      document.getElementById('confirm-name')?.focus();
      return;
    }
    const response = await send(onConfirm);
    if (!response.ok) return;
    onClose();
    onDone();
    announce(done);
  };
  return (
    <Dialog title={title} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={confirm}>
        <p>{children}</p>
        {fields}
        {typed !== undefined && (
          <TextField
            name="confirm-name"
            label={t('admin.confirm.type', { name: typed })}
            autocomplete="off"
            value={text}
            error={error}
            onInput={(value) => {
              setText(value);
              setError(undefined);
            }}
          />
        )}
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="dialog-buttons">
          <Button kind={kind} isPending={isPending}>
            {action}
          </Button>
          <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
            {t('admin.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
