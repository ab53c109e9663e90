import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { GroupDetails, List, Resource, User } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { AddMembers } from './add-members.tsx';

const PAGE_SIZE = 25;
/** Members whom a provider reports are only listed; the list of users shows the rest. */
const MAX_REPORTED = 100;

const MEMBERS = new Responses<List<User>>();

/** The members of a group, by source. */
export function Members({ id, group, reload }: { id: string; group: GroupDetails; reload: () => void }): VNode {
  const { t } = useTexts();
  const { query } = useLocation();
  const [isAdding, setAdding] = useState(false);
  const members = useResource(
    MEMBERS,
    withParameters(`groups/${id}/users`, {
      'filter[source]': 'admin',
      ...pageParameters(query, PAGE_SIZE),
      count: 'false',
    }),
    true,
  );
  const reloadAll = () => {
    members.reload();
    reload();
  };
  return (
    <section class="card section">
      <h2>{t('admin.groups.members')}</h2>
      {group.pending !== 'deleting' && (
        <div class="actions">
          <Button kind="secondary" onClick={() => setAdding(true)}>
            {t('admin.group.add')}
          </Button>
        </div>
      )}
      <Loaded resource={members}>
        {(list) =>
          list.data.length === 0 ? (
            <p class="meta">{t('admin.group.no_members')}</p>
          ) : (
            <>
              <MemberTable id={id} group={group} list={list} isLoading={members.isLoading} onRemoved={reloadAll} />
              <Pager list={list} filters={{}} label={t('admin.group.pages')} />
            </>
          )
        }
      </Loaded>
      {group.external && <Reported id={id} />}
      {isAdding && <AddMembers id={id} name={group.name} onDone={reloadAll} onClose={() => setAdding(false)} />}
    </section>
  );
}

function MemberTable({
  id,
  group: { name, pending },
  list,
  isLoading,
  onRemoved,
}: {
  id: string;
  group: GroupDetails;
  list: List<User>;
  isLoading: boolean;
  onRemoved: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [removed, setRemoved] = useState<Resource<User> | undefined>();
  const username = removed?.attributes.username ?? '';
  return (
    <>
      <DataTable
        label={t('admin.groups.members')}
        rows={list.data}
        isLoading={isLoading}
        columns={[
          { title: t('admin.users.username'), cell: (user) => <MemberLink user={user} /> },
          {
            title: t('admin.group.actions'),
            cell: (user) => (
              <Button
                kind="quiet"
                isDisabled={pending === 'deleting'}
                label={t('admin.group.remove_label', { username: user.attributes.username })}
                onClick={() => setRemoved(user)}
              >
                {t('admin.group.remove')}
              </Button>
            ),
          },
        ]}
      />
      {removed !== undefined && (
        <Confirm
          title={t('admin.group.remove_title', { username, name })}
          action={t('admin.group.remove')}
          kind="danger"
          done={t('admin.group.removed', { username, name })}
          onConfirm={() => client.delete(`groups/${id}/users/${removed.id}`)}
          onDone={onRemoved}
          onClose={() => setRemoved(undefined)}
        >
          {t('admin.group.remove_text')}
        </Confirm>
      )}
    </>
  );
}

function MemberLink({ user: { id, attributes } }: { user: Resource<User> }): VNode {
  const { root } = useConfig();
  return (
    <a href={`${root}users/${id}`}>
      <bdi>{attributes.username}</bdi>
    </a>
  );
}

function Reported({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const members = useResource(
    MEMBERS,
    withParameters(`groups/${id}/users`, {
      'filter[source]': 'provider',
      'page[first]': String(MAX_REPORTED),
      count: 'false',
    }),
  );
  return (
    <>
      <h3>{t('admin.group.reported')}</h3>
      <p>{t('admin.group.reported_text')}</p>
      <Loaded resource={members}>
        {({ data, links }) => (
          <>
            <ul class="rows">
              {data.map((user) => (
                <li key={user.id} class="row">
                  <MemberLink user={user} />
                </li>
              ))}
            </ul>
            {links.next !== undefined && <p class="meta">{t('admin.group.more', { count: MAX_REPORTED })}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}
