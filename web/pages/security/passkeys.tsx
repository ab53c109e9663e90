import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/facts.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { canCreatePasskeys, createPasskey } from './create-passkey.ts';
import { RemovePasskeyDialog, RenamePasskeyDialog } from './passkey-dialogs.tsx';
import {
  CompletePasskeyRegistration,
  PasskeyList,
  type PasskeyListData,
  StartPasskeyRegistration,
} from './passkeys.generated.ts';

type Passkey = Extract<PasskeyListData['viewer'], { __typename: 'User' }>['passkeys']['nodes'][number];

const NONE = {};

/** The user's passkeys, used to sign in without a password. */
export function Passkeys(): VNode {
  const query = usePageQuery(PasskeyList, NONE);
  return (
    <Loaded query={query}>
      {({ viewer, siteConfig }) =>
        viewer.__typename === 'User' && (
          <PasskeySection passkeys={viewer.passkeys.nodes} isAllowed={siteConfig.passkeysEnabled} />
        )
      }
    </Loaded>
  );
}

function PasskeySection({ passkeys, isAllowed }: { passkeys: readonly Passkey[]; isAllowed: boolean }): VNode | null {
  const { t } = useTranslations();
  useFocusAfterRemoval(passkeys.length);
  if (!isAllowed && passkeys.length === 0) return null;
  return (
    <section class="section">
      <h2>{t('account.passkeys.title')}</h2>
      <p>{t(isAllowed ? 'account.passkeys.text' : 'account.passkeys.disabled')}</p>
      {passkeys.length > 0 && (
        <ul class="sessions">
          {passkeys.map((passkey) => (
            <PasskeyCard key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {isAllowed && (canCreatePasskeys() ? <AddPasskey /> : <p>{t('account.passkeys.unsupported')}</p>)}
    </section>
  );
}

function PasskeyCard({ passkey: { id, name, ...passkey } }: { passkey: Passkey }): VNode {
  const { t, rich } = useTranslations();
  const [requested, setRequested] = useState<'rename' | 'remove' | undefined>();
  const close = () => setRequested(undefined);
  return (
    <li class="session">
      <div class="session-facts">
        <p class="event-title">
          <bdi>{name}</bdi>
        </p>
        {passkey.providerName !== null && passkey.providerName !== name && (
          <p>
            <bdi>{passkey.providerName}</bdi>
          </p>
        )}
        <p class="meta facts">
          <span>{rich('account.passkeys.since', { when: <Moment at={passkey.createdAt} /> })}</span>
          {passkey.lastUsedAt !== null && (
            <span>{rich('account.passkeys.used', { when: <Moment at={passkey.lastUsedAt} /> })}</span>
          )}
          <span>{t(passkey.backedUp ? 'account.passkeys.synced' : 'account.passkeys.one_device')}</span>
        </p>
      </div>
      <Button kind="quiet" label={t('account.passkeys.rename_one', { name })} onClick={() => setRequested('rename')}>
        {t('account.rename.button')}
      </Button>
      <Button kind="quiet" label={t('account.passkeys.remove_one', { name })} onClick={() => setRequested('remove')}>
        {t('account.passkeys.remove')}
      </Button>
      {requested === 'rename' && <RenamePasskeyDialog id={id} name={name} onClose={close} />}
      {requested === 'remove' && <RemovePasskeyDialog id={id} name={name} onClose={close} />}
    </li>
  );
}

const STARTED = { LIMIT_REACHED: 'account.passkeys.limit', DISABLED: 'account.passkeys.disabled' } as const;
const MADE = {
  cancelled: 'account.passkeys.cancelled',
  known: 'account.passkeys.known',
  unavailable: 'account.passkeys.unavailable',
} as const;
const COMPLETED = {
  EXPIRED: 'account.passkeys.expired',
  INVALID_RESPONSE: 'account.passkeys.unavailable',
  ALREADY_REGISTERED: 'account.passkeys.known',
  LIMIT_REACHED: 'account.passkeys.limit',
} as const;

function AddPasskey(): VNode {
  const { t } = useTranslations();
  const start = useAction(StartPasskeyRegistration);
  const complete = useAction(CompletePasskeyRegistration);
  const [isMaking, setMaking] = useState(false);
  const [result, setResult] = useState<AreaKey | 'added' | undefined>();
  const isPending = isMaking || start.isPending || complete.isPending;
  const make = async (): Promise<AreaKey | 'added' | undefined> => {
    const started = (await start.run(NONE))?.startPasskeyRegistration;
    if (started === undefined) return undefined;
    if (started.status !== 'STARTED') return STARTED[started.status] ?? 'account.problem.general';
    const made = await createPasskey(started.options);
    if (!made.ok) return MADE[made.reason];
    const response = await complete.run({ challengeId: started.challengeId ?? '', response: made.response });
    if (response === undefined) return undefined;
    const { status } = response.completePasskeyRegistration;
    return status === 'ADDED' ? 'added' : (COMPLETED[status] ?? 'account.problem.general');
  };
  const add = async () => {
    setResult(undefined);
    setMaking(true);
    setResult(await make());
    setMaking(false);
  };
  return (
    <>
      <ProblemNotice problem={start.problem ?? complete.problem} />
      {result !== undefined && (
        <div role="status">
          <Notice kind={result === 'added' ? 'success' : 'warning'}>
            {t(result === 'added' ? 'account.passkeys.added' : result)}
          </Notice>
        </div>
      )}
      <Button kind="secondary" isPending={isPending} onClick={() => void add()}>
        {t('account.passkeys.add')}
      </Button>
    </>
  );
}
