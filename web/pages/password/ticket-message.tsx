import type { VNode } from 'preact';
import { LinkButton } from '../../../src/browser/components/buttons.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';

/** Why a recovery link cannot be used. `over`: it expired, and no further mail is sent for it. */
export type TicketProblem = 'consumed' | 'disabled' | 'expired' | 'locked' | 'over' | 'unknown';

const MESSAGES = {
  consumed: { title: 'account.recovery.consumed.title', text: 'account.recovery.consumed.text', leadsTo: 'start' },
  disabled: { title: 'account.recovery.title', text: 'account.password.disabled', leadsTo: 'sign-in' },
  locked: { title: 'account.recovery.locked.title', text: 'account.recovery.locked.text', leadsTo: 'sign-in' },
  over: { title: 'account.recovery.expired.title', text: 'account.recovery.expired.text', leadsTo: 'start' },
  unknown: { title: 'account.recovery.unknown.title', text: 'account.recovery.unknown.text', leadsTo: 'start' },
} as const satisfies Record<string, { title: AreaKey; text: AreaKey; leadsTo: 'start' | 'sign-in' }>;

/** Explains the problem and where to continue. */
export function TicketMessage({ problem }: { problem: Exclude<TicketProblem, 'expired'> }): VNode {
  const { t } = useTranslations();
  const { recoverPath, root } = useConfig();
  const { title, text, leadsTo } = MESSAGES[problem];
  return (
    <>
      <PageTitle title={t(title)} />
      <p role="status">{t(text)}</p>
      {leadsTo === 'start' ? (
        <LinkButton kind="primary" href={recoverPath}>
          {t('account.recovery.start_over')}
        </LinkButton>
      ) : (
        <p>
          {/* A full page load: a signed-out user can see nothing else in the application. */}
          <a href={root} target="_top">
            {t('account.recovery.sign_in')}
          </a>
        </p>
      )}
    </>
  );
}
