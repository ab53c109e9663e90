import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/facts.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { useAnnounce } from '../../frame/announcements.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { ChangeFactorDialog } from './change-factor-dialog.tsx';
import { RegenerateRecoveryCodes, RemoveTotp } from './one-time-codes.generated.ts';
import { RecoveryCodeList } from './recovery-code-list.tsx';
import type { SecurityOverviewData } from './security.generated.ts';

type User = Extract<SecurityOverviewData['viewer'], { __typename: 'User' }>;

/** With this many recovery codes or fewer, a warning is shown. */
const FEW_CODES = 3;

/** The authenticator app of the account, and its recovery codes. */
export function OneTimeCodes({
  user: { totp, recoveryCodes, username },
  isAllowed,
}: {
  user: Pick<User, 'recoveryCodes' | 'totp' | 'username'>;
  /** Authenticator apps are enabled. */
  isAllowed: boolean;
}): VNode | null {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const pathTo = usePathTo();
  const [isRemoving, setRemoving] = useState(false);
  useFocusAfterRemoval(totp === null ? 0 : 1);
  if (totp === null && !isAllowed) return null;
  return (
    <section class="section">
      <h2>{t('account.totp.title')}</h2>
      {totp === null ? (
        isAllowed && (
          <>
            <p>{t('account.totp.none')}</p>
            <a class="button button-secondary" href={pathTo('security/totp')}>
              {t('account.totp.set_up')}
            </a>
          </>
        )
      ) : (
        <>
          <p>{rich('account.totp.since', { when: <Moment at={totp.createdAt} /> })}</p>
          {totp.lastUsedAt !== null && (
            <p>{rich('account.totp.last_used', { when: <Moment at={totp.lastUsedAt} /> })}</p>
          )}
          <Button kind="secondary" onClick={() => setRemoving(true)}>
            {t('account.totp.remove')}
          </Button>
          {recoveryCodes !== null && <RecoveryCodes remaining={recoveryCodes.remaining} username={username} />}
        </>
      )}
      {isRemoving && (
        <ChangeFactorDialog
          mutation={RemoveTotp}
          texts={{
            title: 'account.totp.remove_question',
            text: 'account.totp.remove_text',
            button: 'account.totp.remove',
          }}
          refusalOf={({ removeTotp: { status } }) => REMOVE_RESULTS[status] ?? 'account.problem.general'}
          onDone={() => announce(t('account.totp.removed'))}
          onClose={() => setRemoving(false)}
        />
      )}
    </section>
  );
}

/** `done`: the requested state is reached. */
const REMOVE_RESULTS = {
  REMOVED: 'done',
  NOT_ENROLLED: 'done',
  REQUIRED_BY_POLICY: 'account.totp.required',
} as const satisfies Record<string, AreaKey | 'done'>;

function RecoveryCodes({ remaining, username }: { remaining: number; username: string }): VNode {
  const { t } = useTranslations();
  const announce = useAnnounce();
  const [isAsking, setAsking] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | undefined>();
  return (
    <>
      <h3>{t('account.codes.title')}</h3>
      {codes === undefined ? (
        <>
          <p>{t('account.codes.remaining', { count: remaining })}</p>
          {remaining <= FEW_CODES && <Notice kind="warning">{t('account.codes.few')}</Notice>}
          <Button kind="secondary" onClick={() => setAsking(true)}>
            {t('account.codes.make')}
          </Button>
        </>
      ) : (
        <RecoveryCodeList codes={codes} username={username} onSaved={() => setCodes(undefined)} />
      )}
      {isAsking && (
        <ChangeFactorDialog
          mutation={RegenerateRecoveryCodes}
          texts={{
            title: 'account.codes.make_question',
            text: 'account.codes.make_text',
            button: 'account.codes.make',
          }}
          refusalOf={({ regenerateRecoveryCodes: made }) =>
            made.recoveryCodes === null ? 'account.problem.general' : 'done'
          }
          onDone={({ regenerateRecoveryCodes: made }) => {
            setCodes(made.recoveryCodes ?? []);
            announce(t('account.codes.made'));
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
