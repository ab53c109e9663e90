import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import type { Action } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { useTranslations } from '../../i18n/translations.ts';

/**
 * Confirms the revocation of a client's access.
 * @param revoke resolves to its result; undefined: no response
 * @param done message on success
 * @param children consequences
 */
export function RevokeDialog({
  title,
  button,
  action: { isPending, problem },
  revoke,
  done,
  onClose,
  children,
}: {
  title: ComponentChildren;
  button: string;
  action: Pick<Action<unknown, never>, 'isPending' | 'problem'>;
  revoke: () => Promise<'NOT_FOUND' | 'REVOKED' | undefined>;
  done: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  const announce = useAnnounce();
  const [trouble, setTrouble] = useState<'gone' | 'unclear' | undefined>();
  const confirm = async () => {
    setTrouble(undefined);
    const status = await revoke();
    switch (status) {
      case undefined:
        return;
      case 'REVOKED':
        onClose();
        return announce(done);
      case 'NOT_FOUND':
        return setTrouble('gone');
      default:
        return setTrouble('unclear');
    }
  };
  const isGone = trouble === 'gone';
  return (
    <Dialog title={title} isPending={isPending} onClose={onClose}>
      {children}
      <ProblemNotice problem={problem} />
      {trouble !== undefined && (
        <div role="alert">
          <Notice kind={isGone ? 'warning' : 'danger'}>
            {t(isGone ? 'account.applications.gone' : 'account.problem.general')}
          </Notice>
        </div>
      )}
      <DialogButtons isPending={isPending} isOver={isGone} onClose={onClose}>
        <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
          {button}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
