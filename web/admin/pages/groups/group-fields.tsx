import type { VNode } from 'preact';
import { TextField } from '../../../components/fields.tsx';
import type { DraftForm } from '../../components/form-dialog.tsx';
import { useTexts } from '../../i18n/translations.ts';

/** Limits of the API. */
const MAX_NAME = 255;
const MAX_DESCRIPTION = 500;

export type GroupForm = DraftForm<'name' | 'description'>;

/** Name and description of a group. */
export function GroupFields({ form, hint }: { form: GroupForm; hint?: string | undefined }): VNode {
  const { t } = useTexts();
  return (
    <>
      <TextField
        name="name"
        label={t('admin.groups.name')}
        autocomplete="off"
        maxLength={MAX_NAME}
        hint={hint}
        value={form.values.name}
        error={form.errors.name}
        onInput={(value) => form.set('name', value)}
      />
      <div class="field">
        <label for="description">{t('admin.groups.description_field')}</label>
        <input
          type="text"
          id="description"
          name="description"
          autocomplete="off"
          maxLength={MAX_DESCRIPTION}
          dir="auto"
          aria-describedby="description-hint"
          value={form.values.description}
          onInput={(event) => form.set('description', event.currentTarget.value)}
        />
        <p class="hint" id="description-hint">
          {t('admin.groups.description_hint')}
        </p>
      </div>
    </>
  );
}

/** Returns what to send; undefined if the form is invalid, which it then shows. */
export function useGroupBody(
  form: GroupForm,
): () => { readonly name: string; readonly description: string } | undefined {
  const { t } = useTexts();
  return () => {
    const [name, description] = [form.values.name.trim(), form.values.description.trim()];
    if (name !== '') return { name, description };
    form.reject({ name: t('admin.groups.name_missing') });
    return undefined;
  };
}
