import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { RenameDialog } from '../../components/rename-dialog.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { RemovePasskey, SetPasskeyName } from './passkeys.generated.ts';

interface DialogProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RenamePasskeyDialog({ id, name, onClose }: DialogProps): VNode {
  const { t } = useTranslations();
  const { run, isPending, problem } = useAction(SetPasskeyName);
  return (
    <RenameDialog
      title={t('account.passkeys.rename')}
      name={name}
      goneText={t('account.passkeys.gone')}
      isPending={isPending}
      problem={problem}
      rename={async (wanted) => (await run({ passkeyId: id, name: wanted }))?.setPasskeyName.status}
      onClose={onClose}
    />
  );
}

const REFUSALS = {
  NOT_FOUND: 'account.passkeys.gone',
  LAST_LOGIN_METHOD: 'account.passkeys.last',
} as const satisfies Record<string, AreaKey>;

/** Confirms the removal of a sign-in method. */
export function RemovePasskeyDialog({ id, name, onClose }: DialogProps): VNode {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const kept = useMemo(() => ({ name: 'remove-passkey', values: { id } }), [id]);
  const { run, isPending, problem } = useAction(RemovePasskey, kept);
  const [refusal, setRefusal] = useState<AreaKey | undefined>();
  const confirm = async () => {
    setRefusal(undefined);
    const status = (await run({ passkeyId: id }))?.removePasskey.status;
    if (status === 'REMOVED') {
      onClose();
      announce(rich('account.passkeys.removed', { name: <bdi>{name}</bdi> }));
    } else if (status !== undefined) setRefusal(REFUSALS[status] ?? 'account.problem.general');
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
      <DialogButtons isPending={isPending} isOver={refusal !== undefined} onClose={onClose}>
        <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
          {t('account.passkeys.remove')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
