import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../../api/admin-client.ts';
import type { Count, List, Resource, User } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CsvButton, type CsvColumn } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { UserStatus } from './user-status.tsx';

const PAGE_SIZE = 25;

const LISTS = new Responses<List<User>>();
const COUNTS = new Responses<Count>();

/** Names of the API, so that programs can read the file in every language. */
const CSV_COLUMNS: readonly CsvColumn<User>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'username', value: ({ attributes }) => attributes.username },
  { name: 'admin', value: ({ attributes }) => String(attributes.admin) },
  { name: 'created_at', value: ({ attributes }) => attributes.created_at },
  { name: 'locked_at', value: ({ attributes }) => attributes.locked_at },
  { name: 'deactivated_at', value: ({ attributes }) => attributes.deactivated_at },
];

/** All accounts, with search and filters. */
export function Users(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const { search, status, admin } = query;
  const filters = { search, status, admin };
  const asked = { 'filter[search]': search, 'filter[status]': status, 'filter[admin]': admin };
  const list = useResource(
    LISTS,
    withParameters('users', { ...asked, ...pageParameters(query, PAGE_SIZE), count: 'false' }),
    true,
  );
  // Counting reads every match, so the list does not wait for it.
  const count = useResource(COUNTS, withParameters('users', { ...asked, count: 'only' }), true).data?.meta.count;
  return (
    <>
      <PageTitle title={t('admin.users.title')}>
        {count !== undefined && <span class="meta">{t('admin.users.count', { count })}</span>}
        <CsvButton file="users" path="users" parameters={asked} columns={CSV_COLUMNS} />
      </PageTitle>
      <FilterBar
        searchLabel={t('admin.users.search')}
        choices={[
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
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}users`, changed), true)}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t('admin.users.none')}</p>
          ) : (
            <>
              <UserTable users={shown.data} isLoading={list.isLoading} />
              <Pager list={shown} filters={filters} label={t('admin.users.pages')} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function UserTable({ users, isLoading }: { users: readonly Resource<User>[]; isLoading: boolean }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.users.title')}
      rows={users}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.users.username'),
          cell: ({ id, attributes }) => (
            <a href={`${root}users/${id}`} class="row-link">
              <bdi>{attributes.username}</bdi>
            </a>
          ),
        },
        { title: t('admin.users.status'), cell: ({ attributes }) => <UserStatus user={attributes} /> },
        {
          title: t('admin.users.right'),
          cell: ({ attributes }) => t(attributes.admin ? 'admin.users.administrator' : 'admin.users.user'),
        },
        { title: t('admin.users.created'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
      ]}
    />
  );
}
