import type { VNode } from 'preact';
import { SelectField } from '../../../components/choice-fields.tsx';
import { CheckField } from '../../../components/fields.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Invitation, List, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { OptionalField } from '../../components/optional-field.tsx';
import { TagInput } from '../../components/tag-input.tsx';
import { useTexts } from '../../i18n/translations.ts';

const GROUPS = new Responses<List<{ readonly name: string }>>();
const DAY_MS = 86_400_000;
const DAYS = ['1', '7', '30', '90'];
const SEPARATOR = '\n';
const MAX_NOTE_CHARACTERS = 500;
const DIGITS = /^[1-9][0-9]{0,8}$/;

/** Creates an invitation. With an address it is for one account, and can be sent. */
export function NewInvitation({ onDone, onClose }: { onDone: (id: string) => void; onClose: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const groups = useResource(GROUPS, withParameters('groups', { 'page[first]': '200', count: 'false' }));
  const form = useDraftForm('invitation', {
    email: '',
    send: 'yes',
    usage_limit: '1',
    expires_at: '7',
    groups: '',
    note: '',
  });
  const { values, errors, set, reject } = form;
  const email = values.email.trim();
  const isPersonal = email !== '';
  const tags = values.groups.split(SEPARATOR).filter((tag) => tag !== '');
  const submit = () => {
    const limit = values.usage_limit.trim();
    if (!isPersonal && limit !== '' && !DIGITS.test(limit)) {
      reject({ usage_limit: t('admin.invitations.limit_invalid') });
      return undefined;
    }
    const usage_limit = limit === '' ? null : Number(limit);
    const days = Number(values.expires_at);
    return client.post<Single<Invitation>>('user-registration-tokens', {
      ...(isPersonal ? { email, send: values.send === 'yes' } : { usage_limit }),
      expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
      groups: tags,
      note: values.note.trim() === '' ? null : values.note.trim(),
    });
  };
  return (
    <FormDialog
      title={t('admin.invitations.new')}
      action={t(isPersonal && values.send === 'yes' ? 'admin.invitations.create_send' : 'admin.invitations.create')}
      form={form}
      done={t('admin.invitations.created_done')}
      onSubmit={submit}
      onDone={({ data }) => onDone(data.id)}
      onClose={onClose}
    >
      <OptionalField
        name="email"
        label={t('admin.invitations.email')}
        hint={t('admin.invitations.email_hint')}
        keyboard="email"
        value={values.email}
        error={errors.email}
        onInput={(value) => set('email', value)}
      />
      {isPersonal ? (
        <CheckField
          name="send"
          label={t('admin.invitations.send_now')}
          isChecked={values.send === 'yes'}
          onChange={(isChecked) => set('send', isChecked ? 'yes' : 'no')}
        />
      ) : (
        <OptionalField
          name="usage_limit"
          label={t('admin.invitations.limit')}
          hint={t('admin.invitations.limit_hint')}
          keyboard="numeric"
          value={values.usage_limit}
          error={errors.usage_limit}
          onInput={(value) => set('usage_limit', value)}
        />
      )}
      <SelectField
        name="expires_at"
        label={t('admin.invitations.expires')}
        value={values.expires_at}
        error={errors.expires_at}
        options={[
          ...DAYS.map((value) => ({ value, text: t('admin.invitations.days', { count: Number(value) }) })),
          { value: '0', text: t('admin.invitations.never') },
        ]}
        onInput={(value) => set('expires_at', value)}
      />
      <TagInput
        name="groups"
        label={t('admin.invitations.groups')}
        hint={t('admin.invitations.groups_hint')}
        error={errors.groups}
        tags={tags}
        suggestions={groups.data?.data.map(({ attributes }) => attributes.name) ?? []}
        onChange={(changed) => set('groups', changed.join(SEPARATOR))}
      />
      <OptionalField
        name="note"
        label={t('admin.invitations.note')}
        hint={t('admin.invitations.note_hint')}
        maxLength={MAX_NOTE_CHARACTERS}
        value={values.note}
        error={errors.note}
        onInput={(value) => set('note', value)}
      />
    </FormDialog>
  );
}
