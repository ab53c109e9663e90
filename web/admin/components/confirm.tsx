import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { Answer, Problem } from '../api/admin-client.ts';
import { useAnnounce } from '../frame/live.tsx';
import { useTexts } from '../i18n/translations.ts';
import { ProblemNotice } from './loaded.tsx';

/** Asks before an action. Names the object and the consequence. If the action fails, the dialog stays and says why. */
export function Confirm({
  title,
  action,
  kind,
  done,
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
  onConfirm: () => Promise<Answer<unknown>>;
  onDone: () => void;
  onClose: () => void;
  /** The consequence. */
  children: ComponentChildren;
}): VNode {
  const { t } = useTexts();
  const announce = useAnnounce();
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const confirm = async (): Promise<void> => {
    setPending(true);
    setProblem(undefined);
    const answer = await onConfirm();
    setPending(false);
    if (!answer.ok) {
      setProblem(answer.problem);
      return;
    }
    onClose();
    onDone();
    announce(done);
  };
  return (
    <Dialog title={title} isPending={isPending} onClose={onClose}>
      <p>{children}</p>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="dialog-buttons">
        <Button kind={kind} isPending={isPending} onClick={() => void confirm()}>
          {action}
        </Button>
        <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
          {t('admin.cancel')}
        </Button>
      </div>
    </Dialog>
  );
}
