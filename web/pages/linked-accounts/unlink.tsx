import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { UnlinkUpstreamAccount, type UnlinkUpstreamAccountData } from './linked-accounts.generated.ts';
import { type RemainingMethods, WARNINGS } from './remaining-methods.ts';

export const UNLINK_FORM = 'unlink-account';

type Refusal = Exclude<UnlinkUpstreamAccountData['unlinkUpstreamAccount']['status'], 'UNLINKED'>;

/** Results after which a retry is pointless. */
const REFUSALS: Readonly<Record<Refusal, AreaKey>> = {
  NOT_FOUND: 'account.linked.gone',
  LAST_LOGIN_METHOD: 'account.linked.last',
  MANAGED_BY_PROVIDER: 'account.linked.managed',
};

interface DialogProps {
  readonly id: string;
  readonly name: string;
  /** Sign-in methods that remain without this link. */
  readonly left: RemainingMethods;
  readonly onClose: () => void;
}

/** Confirms the removal of a sign-in method, and warns if no good one remains. */
export function UnlinkDialog({ id, name, left, onClose }: DialogProps): VNode {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const kept = useMemo(() => ({ name: UNLINK_FORM, values: { id } }), [id]);
  const { run, isPending, problem } = useAction(UnlinkUpstreamAccount, kept);
  const [refusal, setRefusal] = useState<AreaKey | undefined>();
  const isFinal = left === 'none' || (refusal !== undefined && refusal !== 'account.problem.general');
  const confirm = async () => {
    setRefusal(undefined);
    const status = (await run({ id }))?.unlinkUpstreamAccount.status;
    if (status === 'UNLINKED') {
      onClose();
      announce(rich('account.linked.unlinked', { name: <bdi>{name}</bdi> }));
    } else if (status !== undefined) setRefusal(REFUSALS[status] ?? 'account.problem.general');
  };
  return (
    <Dialog
      title={rich('account.linked.question', { name: <bdi>{name}</bdi> })}
      isPending={isPending}
      onClose={onClose}
    >
      <p>{t('account.linked.question_text')}</p>
      {left !== 'enough' && refusal === undefined && <Notice kind="warning">{t(WARNINGS[left])}</Notice>}
      <ProblemNotice problem={problem} />
      {refusal !== undefined && (
        <div role="alert">
          <Notice kind={isFinal ? 'warning' : 'danger'}>{t(refusal)}</Notice>
        </div>
      )}
      <DialogButtons isPending={isPending} isOver={isFinal} onClose={onClose}>
        <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
          {t('account.linked.unlink')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
