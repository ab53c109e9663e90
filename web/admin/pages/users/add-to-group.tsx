import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '../../../components/choice-fields.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Group, List } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useTexts } from '../../i18n/translations.ts';

const GROUPS = new Responses<List<Group>>();
const SHOWN = 200;

/** Adds the selected users to a group. */
export function AddToGroup({
  ids,
  onDone,
  onClose,
}: {
  ids: ReadonlySet<string>;
  onDone: () => void;
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const groups = useResource(GROUPS, withParameters('groups', { 'page[first]': String(SHOWN), count: 'false' }));
  const [chosen, setChosen] = useState<string | undefined>();
  const options = (groups.data?.data ?? []).map(({ id, attributes }) => ({ value: id, text: attributes.name }));
  const group = chosen ?? options[0]?.value ?? '';
  const count = ids.size;
  return (
    <Confirm
      title={t('admin.users.group_title', { count })}
      action={t('admin.user.add')}
      kind="primary"
      done={t('admin.users.group_done', { count })}
      fields={
        <Loaded resource={groups}>
          {() => (
            <SelectField
              name="group"
              label={t('admin.user.group')}
              options={options}
              value={group}
              onInput={setChosen}
            />
          )}
        </Loaded>
      }
      onConfirm={() => client.post(`groups/${group}/users`, { user_ids: [...ids] })}
      onDone={onDone}
      onClose={onClose}
    >
      {t('admin.users.group_text')}
    </Confirm>
  );
}
