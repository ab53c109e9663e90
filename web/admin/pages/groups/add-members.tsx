import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { List, User } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Loaded, ProblemNotice } from '../../components/loaded.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { useTexts } from '../../i18n/translations.ts';

const FOUND = new Responses<List<User>>();
const MAX_FOUND = '8';
const TYPED_MS = 300;

/** A dialog that searches users and adds the chosen ones, all or none. */
export function AddMembers({
  id,
  name,
  onDone,
  onClose,
}: {
  id: string;
  name: string;
  onDone: () => void;
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const [search, setSearch] = useState('');
  const [error, setError] = useState<string | undefined>();
  /** Usernames by ID. */
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const toggle = (userId: string, username: string) => {
    const changed = new Map(chosen);
    if (!changed.delete(userId)) changed.set(userId, username);
    setChosen(changed);
    setError(undefined);
  };
  const add = async (): Promise<void> => {
    if (chosen.size === 0) {
      setError(t('admin.group.none_chosen'));
      return;
    }
    const response = await send(() => client.post(`groups/${id}/users`, { user_ids: [...chosen.keys()] }));
    if (!response.ok) return;
    onClose();
    onDone();
    announce(t('admin.group.added', { count: chosen.size, name }));
  };
  return (
    <Dialog title={t('admin.group.add_title', { name })} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={add}>
        <div class="field">
          <label for="member-search">{t('admin.group.search_users')}</label>
          <input
            type="search"
            id="member-search"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxLength={255}
            dir="auto"
            value={search}
            aria-invalid={error !== undefined}
            aria-describedby="member-error"
            onInput={(event) => setSearch(event.currentTarget.value)}
            // Enter would send the form before a user is chosen.
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
          <div class="field-error" id="member-error" role="alert">
            {error !== undefined && <p>{error}</p>}
          </div>
        </div>
        <FoundUsers search={search} chosen={chosen} onToggle={toggle} />
        {chosen.size > 0 && (
          <p role="status">{t('admin.group.chosen', { count: chosen.size, names: [...chosen.values()].join(', ') })}</p>
        )}
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="dialog-buttons">
          <Button isPending={isPending}>{t('admin.group.add')}</Button>
          <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
            {t('admin.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function FoundUsers({
  search,
  chosen,
  onToggle,
}: {
  search: string;
  chosen: ReadonlyMap<string, string>;
  onToggle: (id: string, username: string) => void;
}): VNode {
  const { t } = useTexts();
  const [requested, setRequested] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRequested(search.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [search]);
  const found = useResource(
    FOUND,
    withParameters('users', {
      'filter[search]': requested,
      'filter[search-in]': requested === '' ? undefined : 'any',
      'page[first]': MAX_FOUND,
      sort: 'username',
      count: 'false',
    }),
    true,
  );
  return (
    <Loaded resource={found}>
      {({ data }) =>
        data.length === 0 ? (
          <p class="meta">{t('admin.users.none')}</p>
        ) : (
          <fieldset class="choices">
            <legend>{t('admin.users.title')}</legend>
            {data.map(({ id, attributes: { username } }) => (
              <CheckField
                key={id}
                name={`member-${id}`}
                label={username}
                isChecked={chosen.has(id)}
                onChange={() => onToggle(id, username)}
              />
            ))}
          </fieldset>
        )
      }
    </Loaded>
  );
}
