import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { TextField } from '../../../components/fields.tsx';
import { useClient } from '../../api/context.ts';
import type { Single, User } from '../../api/documents.ts';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';

/** Creates an account and opens its page, where the administrator sends a link to set a password. */
export function CreateUser({ onClose }: { onClose: () => void }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { route } = useLocation();
  const client = useClient();
  const form = useDraftForm('create', { username: '', displayname: '' });
  const username = form.values.username.trim();
  const displayname = form.values.displayname.trim();
  return (
    <FormDialog
      title={t('admin.users.create')}
      action={t('admin.users.create')}
      form={form}
      done={t('admin.users.user_created', { username })}
      onSubmit={() => {
        if (username !== '') {
          return client.post<Single<User>>('users', { username, ...(displayname !== '' && { displayname }) });
        }
        form.reject({ username: t('admin.required') });
        return undefined;
      }}
      onDone={({ data }) => route(`${root}users/${data.id}`)}
      onClose={onClose}
    >
      <p>{t('admin.users.create_text')}</p>
      <TextField
        name="username"
        label={t('admin.users.username')}
        autocomplete="off"
        maxLength={255}
        value={form.values.username}
        error={form.errors.username}
        onInput={(value) => form.set('username', value)}
      />
      <TextField
        name="displayname"
        label={t('admin.users.display_name')}
        hint={t('admin.optional')}
        autocomplete="off"
        maxLength={255}
        value={form.values.displayname}
        error={form.errors.displayname}
        onInput={(value) => form.set('displayname', value)}
      />
    </FormDialog>
  );
}
