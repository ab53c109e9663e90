import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { ResendRecoveryEmail } from './password.generated.ts';
import type { TicketProblem } from './ticket-message.tsx';

/** The link has expired; offers to send a new one. */
export function ExpiredTicket({
  ticket,
  email,
  onProblem,
}: {
  ticket: string;
  email: string;
  onProblem: (problem: TicketProblem) => void;
}): VNode {
  const { t, rich } = useTranslations();
  const { run, isPending, problem } = useAction(ResendRecoveryEmail);
  const [isLimited, setLimited] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const resend = async () => {
    setLimited(false);
    const { status, progressUrl } = (await run({ ticket }))?.resendRecoveryEmail ?? {};
    setLimited(status === 'RATE_LIMITED');
    if (status === 'NO_SUCH_RECOVERY_TICKET') onProblem('over');
    if (status !== 'SENT' || typeof progressUrl !== 'string') return;
    setLeaving(true);
    location.assign(progressUrl);
  };
  return (
    <>
      <PageTitle title={t('account.recovery.expired.title')} />
      <p>{rich('account.recovery.expired.resend', { email: <bdi class="name">{email}</bdi> })}</p>
      <ProblemNotice problem={isLimited ? LIMITED : problem} />
      <Button isPending={isPending || isLeaving} onClick={() => void resend()}>
        {t('account.recovery.resend')}
      </Button>
    </>
  );
}

const LIMITED = { kind: 'rate-limited', retryAfterSeconds: undefined } as const;
