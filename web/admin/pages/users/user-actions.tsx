import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { PasswordField } from '../../../components/fields.tsx';
import { useClient } from '../../api/context.ts';
import type { User, UserDetails } from '../../api/documents.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { ExportButton } from './export-button.tsx';
import { RecoveryLinkDialog } from './recovery-link.tsx';

interface Shown {
  readonly id: string;
  readonly user: User;
  readonly reload: () => void;
}

/** An action that needs only a confirmation. */
interface Confirmed {
  readonly button: AdminKey;
  readonly title: AdminKey;
  readonly text: AdminKey;
  readonly done: AdminKey;
  readonly kind: 'primary' | 'danger';
  /** Path below the account, and the body. */
  readonly request: readonly [action: string, body?: object];
  /** What it deletes cannot be restored. */
  readonly isIrreversible?: boolean;
}

const LOCK = {
  button: 'admin.user.lock',
  title: 'admin.user.lock_title',
  text: 'admin.user.lock_text',
  done: 'admin.user.locked',
  kind: 'danger',
  request: ['lock'],
} as const;

const UNLOCK = {
  button: 'admin.user.unlock',
  title: 'admin.user.unlock_title',
  text: 'admin.user.unlock_text',
  done: 'admin.user.unlocked',
  kind: 'primary',
  request: ['unlock'],
} as const;

const END_SESSIONS = {
  button: 'admin.user.end_sessions',
  title: 'admin.user.end_sessions_title',
  text: 'admin.user.end_sessions_text',
  done: 'admin.user.sessions_ended',
  kind: 'danger',
  request: ['kill-sessions'],
} as const;

const REMOVE_FACTORS = {
  button: 'admin.user.remove_factors',
  title: 'admin.user.remove_factors_title',
  text: 'admin.user.remove_factors_text',
  done: 'admin.user.factors_removed',
  kind: 'danger',
  request: ['remove-second-factors'],
} as const;

const GRANT = {
  button: 'admin.user.grant',
  title: 'admin.user.grant_title',
  text: 'admin.user.grant_text',
  done: 'admin.user.granted',
  kind: 'primary',
  request: ['set-admin', { admin: true }],
} as const;

const REVOKE = {
  button: 'admin.user.revoke',
  title: 'admin.user.revoke_title',
  text: 'admin.user.revoke_text',
  done: 'admin.user.revoked',
  kind: 'danger',
  request: ['set-admin', { admin: false }],
} as const;

const DEACTIVATE = {
  button: 'admin.user.deactivate',
  title: 'admin.user.deactivate_title',
  text: 'admin.user.deactivate_text',
  done: 'admin.user.deactivated',
  kind: 'danger',
  request: ['deactivate', { skip_erase: true }],
  isIrreversible: true,
} as const;

const REACTIVATE = {
  button: 'admin.user.reactivate',
  title: 'admin.user.reactivate_title',
  text: 'admin.user.reactivate_text',
  done: 'admin.user.reactivated',
  kind: 'primary',
  request: ['reactivate'],
} as const;

const ERASE = {
  button: 'admin.user.erase',
  title: 'admin.user.erase_title',
  text: 'admin.user.erase_text',
  done: 'admin.user.erased',
  kind: 'danger',
  request: ['deactivate', { skip_erase: false }],
  isIrreversible: true,
} as const;

function confirmedActions({ user, hasFactors }: { user: User; hasFactors: boolean }): readonly Confirmed[] {
  if (user.deactivated_at !== null) return [REACTIVATE, ERASE];
  return [
    user.locked_at === null ? LOCK : UNLOCK,
    END_SESSIONS,
    ...(hasFactors ? [REMOVE_FACTORS] : []),
    user.admin ? REVOKE : GRANT,
    DEACTIVATE,
    ERASE,
  ];
}

/** The actions on an account. */
export function UserActions({
  details,
  ...shown
}: Shown & {
  /** Undefined while it is read. */
  details: UserDetails | undefined;
}): VNode {
  const { t } = useTexts();
  const { id, user } = shown;
  const [open, setOpen] = useState<Confirmed | 'link' | 'password' | undefined>();
  const close = () => setOpen(undefined);
  const isUsable = user.deactivated_at === null && user.locked_at === null;
  const hasFactors = details !== undefined && (details.authenticator_app !== null || details.recovery_codes.total > 0);
  const actions = confirmedActions({ user, hasFactors });
  const button = (action: Confirmed) => (
    <Button
      key={action.button}
      kind={action.isIrreversible === true ? 'danger' : 'secondary'}
      onClick={() => setOpen(action)}
    >
      {t(action.button)}
    </Button>
  );
  return (
    <section class="actions" aria-label={t('admin.user.actions')}>
      {isUsable && (
        <Button kind="secondary" onClick={() => setOpen('link')}>
          {t('admin.user.reset')}
        </Button>
      )}
      {user.deactivated_at === null && (
        <Button kind="secondary" onClick={() => setOpen('password')}>
          {t('admin.user.set_password')}
        </Button>
      )}
      {actions.filter(({ isIrreversible }) => isIrreversible !== true).map(button)}
      <ExportButton id={id} username={user.username} />
      {actions.filter(({ isIrreversible }) => isIrreversible === true).map(button)}
      {open === 'link' && <RecoveryLinkDialog id={id} user={user} onClose={close} />}
      {open === 'password' && <SetPassword {...shown} onClose={close} />}
      {typeof open === 'object' && <ConfirmAction {...shown} action={open} onClose={close} />}
    </section>
  );
}

function ConfirmAction({
  id,
  user,
  reload,
  action,
  onClose,
}: Shown & { action: Confirmed; onClose: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const { username } = user;
  const [path, body] = action.request;
  return (
    <Confirm
      title={t(action.title, { username })}
      action={t(action.button)}
      kind={action.kind}
      done={t(action.done, { username })}
      {...(action.isIrreversible === true && { typed: username })}
      fields={action === ERASE && <ExportButton id={id} username={username} />}
      onConfirm={() => client.post(`users/${id}/${path}`, body)}
      onDone={reload}
      onClose={onClose}
    >
      {t(action.text)}
    </Confirm>
  );
}

function SetPassword({ id, user, reload, onClose }: Shown & { onClose: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const { username } = user;
  const form = useDraftForm('password', { password: '' }, ['password']);
  return (
    <FormDialog
      title={t('admin.user.set_password_title', { username })}
      action={t('admin.user.set_password')}
      form={form}
      done={t('admin.user.password_set', { username })}
      onSubmit={() => {
        const { password } = form.values;
        if (password !== '') return client.post(`users/${id}/set-password`, { password });
        form.reject({ password: t('field.password_required') });
        return undefined;
      }}
      onDone={reload}
      onClose={onClose}
    >
      <p>{t('admin.user.set_password_text')}</p>
      <PasswordField
        name="password"
        label={t('admin.user.new_password')}
        autocomplete="new-password"
        value={form.values.password}
        error={form.errors.password}
        onInput={(value) => form.set('password', value)}
      />
    </FormDialog>
  );
}
