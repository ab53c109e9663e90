import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { AccountCard } from '../../../src/browser/components/decision.tsx';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { CheckField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { findNewPasswordErrors, NEW_PASSWORD, NewPasswordFields } from './new-password.tsx';
import { RecoverPassword } from './password.generated.ts';
import type { TicketProblem } from './ticket-message.tsx';

/** Results that concern the ticket itself. */
const PROBLEMS: Readonly<Record<string, TicketProblem>> = {
  ACCOUNT_LOCKED: 'locked',
  EXPIRED_RECOVERY_TICKET: 'expired',
  NO_SUCH_RECOVERY_TICKET: 'unknown',
  PASSWORD_CHANGES_DISABLED: 'disabled',
  RECOVERY_TICKET_ALREADY_USED: 'consumed',
};

/** Asks for a new password. It does not sign the user in, because access to the mailbox is not a second factor. */
export function RecoverForm({
  ticket,
  username,
  minimumScore,
  onProblem,
  onSignedIn,
}: {
  ticket: string;
  username: string;
  minimumScore: number;
  onProblem: (problem: TicketProblem) => void;
  /** A user has signed in since the page was opened. */
  onSignedIn: () => void;
}): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const { root, recoveryEndsApplications } = useConfig();
  const form = useForm(NEW_PASSWORD);
  const [endsApplications, setEndsApplications] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const { run, isPending, problem } = useAction(RecoverPassword);
  const isSignedIn = problem?.kind === 'refused' && problem.code === 'FORBIDDEN';
  useEffect(() => {
    if (isSignedIn) onSignedIn();
  }, [isSignedIn]);
  const submit = async () => {
    setRefused(false);
    const errors = findNewPasswordErrors(form.values, translations);
    form.reject(errors);
    if (Object.keys(errors).length > 0) return;
    const { new_password: newPassword } = form.values;
    const data = await run({ ticket, newPassword, endAllSessions: endsApplications });
    const { status, suggestions } = data?.setPasswordByRecovery ?? {};
    if (status === undefined) return;
    const found = PROBLEMS[status];
    if (status === 'ALLOWED') {
      setLeaving(true);
      // Navigates to the sign-in form, which confirms the new password.
      location.assign(root);
    } else if (status === 'INVALID_NEW_PASSWORD') form.reject({ new_password: (suggestions ?? []).join(' ') });
    else if (found !== undefined) onProblem(found);
    else setRefused(true);
  };
  return (
    <>
      <PageTitle title={t('account.recovery.title')} />
      <p>{t('account.recovery.text')}</p>
      <AccountCard displayName={undefined} identifier={username} />
      <ProblemNotice problem={problem} />
      {isRefused && (
        <div role="alert">
          <Notice kind="danger">{t('account.problem.general')}</Notice>
        </div>
      )}
      <Form isPending={isPending || isLeaving} onSubmit={submit}>
        <NewPasswordFields form={form} username={username} minimumScore={minimumScore} />
        {!recoveryEndsApplications && (
          <CheckField
            name="end_applications"
            label={t('account.password.end_applications')}
            isChecked={endsApplications}
            onChange={setEndsApplications}
          />
        )}
        <Button isPending={isPending || isLeaving}>{t('account.recovery.button')}</Button>
      </Form>
    </>
  );
}
