import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { AccountCard } from '../../../src/browser/components/decision.tsx';
import { useAction } from '../../api/action.ts';
import { type PageQuery, usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { EndBrowserSession } from '../sessions/sessions.generated.ts';
import { ExpiredTicket } from './expired-ticket.tsx';
import { type PasswordRecoveryData, PasswordRecovery as PasswordRecoveryQuery } from './password.generated.ts';
import { RecoverForm } from './recover-form.tsx';
import { takeTicket } from './ticket.ts';
import { TicketMessage, type TicketProblem } from './ticket-message.tsx';

/**
 * Target of the link in a recovery mail: sets a new password without signing in (browser-flows 7.3). Opening the link
 * does not consume it, because mail scanners open it as well.
 */
export function PasswordRecovery(): VNode {
  const { t } = useTranslations();
  const [ticket] = useState(takeTicket);
  const query = usePageQuery(PasswordRecoveryQuery, { ticket });
  return (
    <PlainPage>
      <Loaded query={query} title={t('account.recovery.title')}>
        {(data) => <Ticket ticket={ticket} data={data} query={query} />}
      </Loaded>
    </PlainPage>
  );
}

function Ticket({
  ticket,
  data,
  query,
}: {
  ticket: string;
  data: PasswordRecoveryData;
  query: PageQuery<PasswordRecoveryData>;
}): VNode {
  const { t } = useTranslations();
  // State of the ticket from a later response.
  const [problem, setProblem] = useState<TicketProblem | undefined>();
  const { viewer, viewerSession, siteConfig, userRecoveryTicket: found } = data;
  if (viewer.__typename === 'User' && viewerSession.__typename === 'BrowserSession') {
    return <SignedIn username={viewer.username} session={viewerSession.id} />;
  }
  // Not checked: rate limit of the address exceeded.
  if (found === null && query.problem !== undefined) return <PageTitle title={t('account.recovery.title')} />;
  if (found === null) return <TicketMessage problem="unknown" />;
  const isExpired = problem === 'expired' || (problem === undefined && found.status === 'EXPIRED');
  if (isExpired) return <ExpiredTicket ticket={ticket} email={found.email} onProblem={setProblem} />;
  if (problem !== undefined) return <TicketMessage problem={problem} />;
  if (found.status === 'CONSUMED') return <TicketMessage problem="consumed" />;
  return (
    <RecoverForm
      ticket={ticket}
      username={found.username}
      minimumScore={siteConfig.minimumPasswordComplexity}
      onProblem={setProblem}
      onSignedIn={query.reload}
    />
  );
}

/**
 * The link may belong to an account other than the signed-in one. After signing out, the user sees whether it is valid.
 */
function SignedIn({ username, session }: { username: string; session: string }): VNode {
  const { t } = useTranslations();
  const { run, isPending, problem } = useAction(EndBrowserSession);
  return (
    <>
      <PageTitle title={t('account.recovery.signed_in.title')} />
      <AccountCard displayName={undefined} identifier={username} />
      <p>{t('account.recovery.signed_in.text')}</p>
      <ProblemNotice problem={problem} />
      <Button isPending={isPending} onClick={() => void run({ id: session })}>
        {t('account.sign_out')}
      </Button>
    </>
  );
}
