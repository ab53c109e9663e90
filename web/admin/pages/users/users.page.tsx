import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { type Parameters, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Count, List, Resource, User } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { BulkBar, type Selection, useSelection } from '../../components/bulk-bar.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CsvButton, type CsvColumn } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Choice, FilterBar } from '../../components/filter-bar.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { AddToGroup } from './add-to-group.tsx';
import { CreateUser } from './create-user.tsx';
import { UserStatus } from './user-status.tsx';

const PAGE_SIZE = 25;
const DAY_MS = 86_400_000;

const LISTS = new Responses<List<User>>();
const COUNTS = new Responses<Count>();

/** Names of the API, so that programs can read the file in every language. */
const CSV_COLUMNS: readonly CsvColumn<User>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'username', value: ({ attributes }) => attributes.username },
  { name: 'display_name', value: ({ attributes }) => attributes.display_name },
  { name: 'email', value: ({ attributes }) => attributes.email },
  { name: 'admin', value: ({ attributes }) => String(attributes.admin) },
  { name: 'created_at', value: ({ attributes }) => attributes.created_at },
  { name: 'locked_at', value: ({ attributes }) => attributes.locked_at },
  { name: 'deactivated_at', value: ({ attributes }) => attributes.deactivated_at },
];

/** All accounts, with search, filters, and actions on many. */
export function Users(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const { search, status, admin, factor, active, group, sort } = query;
  const filters = { search, status, admin, factor, active, group };
  const requested = askedOf(query);
  const sorted = { ...requested, sort };
  const path = withParameters('users', { ...sorted, ...pageParameters(query, PAGE_SIZE), count: 'false' });
  const list = useResource(LISTS, path, true);
  // Counting reads every match, so the list does not wait for it.
  const count = useResource(COUNTS, withParameters('users', { ...requested, count: 'only' }), true).data?.meta.count;
  const selection = useSelection(path);
  return (
    <>
      <PageTitle title={t('admin.users.title')}>
        {count !== undefined && <span class="meta">{t('admin.users.count', { count })}</span>}
        <CsvButton file="users" path="users" parameters={sorted} columns={CSV_COLUMNS} />
        <Button onClick={() => setCreating(true)}>{t('admin.users.create')}</Button>
      </PageTitle>
      <FilterBar
        searchLabel={t('admin.users.search')}
        choices={useChoices(group)}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}users`, { ...changed, sort }), true)}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t('admin.users.none')}</p>
          ) : (
            <>
              <UserTable users={shown.data} isLoading={list.isLoading} selection={selection} />
              <BulkActions selection={selection} reload={list.reload} />
              <Pager list={shown} filters={{ ...filters, sort }} label={t('admin.users.pages')} />
            </>
          )
        }
      </Loaded>
      {isCreating && <CreateUser onClose={() => setCreating(false)} />}
    </>
  );
}

/** Returns the filters of the API for those of the page. */
function askedOf({ search, status, admin, factor, active, group }: Readonly<Record<string, string>>): Parameters {
  const days = Number(active);
  return {
    'filter[search]': search,
    'filter[search-in]': search === undefined ? undefined : 'any',
    'filter[status]': status,
    'filter[admin]': admin,
    'filter[has-second-factor]': factor,
    // A whole day, so that the URL of the request stays the same.
    'filter[active-since]':
      days > 0 ? `${new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z` : undefined,
    'filter[group]': group,
  };
}

function useChoices(group: string | undefined): readonly Choice[] {
  const { t } = useTexts();
  return [
    {
      name: 'status',
      label: t('admin.users.status'),
      options: [
        { value: 'active', text: t('admin.users.active') },
        { value: 'locked', text: t('admin.users.locked') },
        { value: 'deactivated', text: t('admin.users.deactivated') },
      ],
    },
    {
      name: 'admin',
      label: t('admin.users.right'),
      options: [
        { value: 'true', text: t('admin.users.administrators') },
        { value: 'false', text: t('admin.users.others') },
      ],
    },
    {
      name: 'factor',
      label: t('admin.users.factor'),
      options: [
        { value: 'true', text: t('admin.users.with_factor') },
        { value: 'false', text: t('admin.users.without_factor') },
      ],
    },
    {
      name: 'active',
      label: t('admin.users.last_active'),
      options: [1, 7, 30].map((days) => ({ value: String(days), text: t('admin.users.last_days', { days }) })),
    },
    // Other pages link here with a group.
    ...(group === undefined
      ? []
      : [{ name: 'group', label: t('admin.user.group'), options: [{ value: group, text: group }] }]),
  ];
}

function UserTable({
  users,
  isLoading,
  selection,
}: {
  users: readonly Resource<User>[];
  isLoading: boolean;
  selection: Selection;
}): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.users.title')}
      rows={users}
      isLoading={isLoading}
      selection={{ ...selection, nameOf: ({ attributes }) => attributes.username }}
      columns={[
        {
          title: t('admin.users.username'),
          sort: 'username',
          cell: ({ id, attributes }) => (
            <a href={`${root}users/${id}`} class="row-link">
              <bdi>{attributes.username}</bdi>
            </a>
          ),
        },
        {
          title: t('admin.users.display_name'),
          cell: ({ attributes }) => <bdi>{attributes.display_name ?? '–'}</bdi>,
        },
        { title: t('admin.user.email'), cell: ({ attributes }) => <bdi>{attributes.email ?? '–'}</bdi> },
        { title: t('admin.users.status'), cell: ({ attributes }) => <UserStatus user={attributes} /> },
        {
          title: t('admin.users.right'),
          cell: ({ attributes }) => t(attributes.admin ? 'admin.users.administrator' : 'admin.users.user'),
        },
        {
          title: t('admin.users.created'),
          sort: 'id',
          cell: ({ attributes }) => <Time at={attributes.created_at} />,
        },
      ]}
    />
  );
}

const LOCK = {
  action: 'lock',
  button: 'admin.users.lock',
  title: 'admin.users.lock_title',
  text: 'admin.user.lock_text',
  done: 'admin.users.locked_done',
  kind: 'danger',
} as const;
const UNLOCK = {
  action: 'unlock',
  button: 'admin.users.unlock',
  title: 'admin.users.unlock_title',
  text: 'admin.user.unlock_text',
  done: 'admin.users.unlocked_done',
  kind: 'primary',
} as const;

function BulkActions({ selection, reload }: { selection: Selection; reload: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [asking, setAsking] = useState<typeof LOCK | typeof UNLOCK | 'group' | undefined>();
  const done = () => {
    selection.clear();
    reload();
  };
  const count = selection.ids.size;
  return (
    <>
      <BulkBar selection={selection}>
        <Button kind="danger" onClick={() => setAsking(LOCK)}>
          {t('admin.users.lock')}
        </Button>
        <Button kind="secondary" onClick={() => setAsking(UNLOCK)}>
          {t('admin.users.unlock')}
        </Button>
        <Button kind="secondary" onClick={() => setAsking('group')}>
          {t('admin.user.add_group')}
        </Button>
      </BulkBar>
      {asking === 'group' && <AddToGroup ids={selection.ids} onDone={done} onClose={() => setAsking(undefined)} />}
      {typeof asking === 'object' && (
        <Confirm
          title={t(asking.title, { count })}
          action={t(asking.button)}
          kind={asking.kind}
          done={t(asking.done, { count })}
          onConfirm={() => client.post('users/bulk/status', { action: asking.action, ids: [...selection.ids] })}
          onDone={done}
          onClose={() => setAsking(undefined)}
        >
          {t(asking.text)}
        </Confirm>
      )}
    </>
  );
}
