import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { CheckField, PasswordField, TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { stayWhenSignedOut } from '../../frame/signed-out.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { restoredValues } from '../../reauthentication/stored-form.ts';
import { DeactivateUser } from './deactivate.generated.ts';

const FORM = 'deactivate-account';
/** Delay between the last character and an enabled button, so that typing on does not deactivate the account. */
const PAUSE_MS = 500;

interface Leaving {
  readonly username: string;
  /** Complete, as `@name:server`. */
  readonly userId: string;
  /** The user confirms with the password, or by typing the user ID if there is none. */
  readonly hasPassword: boolean;
  readonly onDeactivated: () => void;
}

/** Deactivates the account. An account action only opens the confirmation (account-graphql 8.3). */
export function DeactivateAccount(leaving: Leaving): VNode {
  const { t } = useTranslations();
  const { url } = useLocation();
  const [typed] = useState(() => restoredValues(FORM));
  const isRequested = new URL(url, location.origin).searchParams.get('dialog') === 'deactivate';
  const [isOpen, setOpen] = useState(isRequested || typed !== undefined);
  return (
    <section class="section danger-zone">
      <h2>{t('account.deactivate.zone')}</h2>
      <p>{t('account.deactivate.text')}</p>
      <Button kind="danger" onClick={() => setOpen(true)}>
        {t('account.deactivate.button')}
      </Button>
      {isOpen && <DeactivateDialog {...leaving} typed={typed} onClose={() => setOpen(false)} />}
    </section>
  );
}

function DeactivateDialog({
  username,
  userId,
  hasPassword,
  typed,
  onDeactivated,
  onClose,
}: Leaving & {
  /** Values entered before a reauthentication. */
  typed: ReturnType<typeof restoredValues>;
  onClose: () => void;
}): VNode {
  const { t, rich } = useTranslations();
  const { hasCrossSigning } = useConfig();
  const form = useForm({ password: '', user_id: typed?.['user_id'] ?? '' });
  const [isErased, setErased] = useState(typed?.['erase'] === 'true');
  const { password, user_id: typedId } = form.values;
  const kept = useMemo(
    () => ({ name: FORM, values: { user_id: typedId, erase: String(isErased) } }),
    [typedId, isErased],
  );
  const { run, isPending, problem } = useAction(DeactivateUser, kept);
  const [isUnclear, setUnclear] = useState(false);
  const isReady = useReady(hasPassword ? password !== '' : typedId.trim() === userId);
  const submit = async () => {
    setUnclear(false);
    const status = (await run({ hsErase: isErased, ...(hasPassword && { password }) }))?.deactivateUser.status;
    switch (status) {
      case undefined:
        return;
      case 'DEACTIVATED':
        stayWhenSignedOut();
        return onDeactivated();
      case 'INCORRECT_PASSWORD':
        form.set('password', '');
        return form.reject({ password: t('account.confirm.incorrect') });
      default:
        return setUnclear(true);
    }
  };
  return (
    <Dialog title={t('account.deactivate.title')} isPending={isPending} onClose={onClose}>
      <p>{t('account.deactivate.text')}</p>
      <ul>
        <li>{t('account.deactivate.sessions')}</li>
        <li>{t('account.deactivate.removed')}</li>
        <li>{rich('account.deactivate.name', { username: <bdi>{username}</bdi> })}</li>
      </ul>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {isUnclear && (
          <div role="alert">
            <Notice kind="danger">{t('account.problem.general')}</Notice>
          </div>
        )}
        <CheckField
          name="erase"
          label={t(hasCrossSigning ? 'account.deactivate.erase_chat' : 'account.deactivate.erase')}
          isChecked={isErased}
          onChange={setErased}
        />
        {hasPassword ? (
          <PasswordField
            name="password"
            label={t('account.confirm.password')}
            autocomplete="current-password"
            value={password}
            error={form.errors.password}
            onInput={(value) => form.set('password', value)}
          />
        ) : (
          <TextField
            name="user_id"
            label={t(hasCrossSigning ? 'account.profile.user_id' : 'account.profile.username')}
            autocomplete="off"
            hint={rich('account.deactivate.user_id', { id: <bdi>{userId}</bdi> })}
            value={typedId}
            onInput={(value) => form.set('user_id', value)}
          />
        )}
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button kind="danger" isPending={isPending} isDisabled={!isReady}>
            {t('account.deactivate.button')}
          </Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

/** Returns true once the form has been complete for the length of the delay. */
function useReady(isComplete: boolean): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    if (!isComplete) return undefined;
    const timer = setTimeout(() => setReady(true), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      setReady(false);
    };
  }, [isComplete]);
  return isReady && isComplete;
}
