import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../../api/admin-client.ts';
import type { Client, Count, List, Resource } from '../../api/documents.ts';
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
import { ApplicationStatus, KINDS, nameOf } from './application-name.tsx';

const PAGE_SIZE = 25;
/** The API counts the sessions of a listed client up to this number. */
const MAX_COUNTED = 100;

const LISTS = new Responses<List<Client>>();
const COUNTS = new Responses<Count>();

/** Names of the API, so that programs can read the file in every language. */
const CSV_COLUMNS: readonly CsvColumn<Client>[] = [
  { name: 'client_id', value: ({ attributes }) => attributes.client_id },
  { name: 'client_name', value: ({ attributes }) => attributes.client_name },
  { name: 'kind', value: ({ attributes }) => attributes.kind },
  { name: 'token_endpoint_auth_method', value: ({ attributes }) => attributes.token_endpoint_auth_method },
  { name: 'created_at', value: ({ attributes }) => attributes.created_at },
  { name: 'disabled_at', value: ({ attributes }) => attributes.disabled_at },
  { name: 'last_used_at', value: ({ attributes }) => attributes.last_used_at },
];

/** All applications, with search and filters. */
export function Applications(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const { search, kind, disabled } = query;
  const filters = { search, kind, disabled };
  const requested = { 'filter[search]': search, 'filter[client-kind]': kind, 'filter[disabled]': disabled };
  const list = useResource(
    LISTS,
    withParameters('oauth2-clients', { ...requested, ...pageParameters(query, PAGE_SIZE), count: 'false' }),
    true,
  );
  const counted = useResource(COUNTS, withParameters('oauth2-clients', { ...requested, count: 'only' }), true);
  const count = counted.data?.meta.count;
  return (
    <>
      <PageTitle title={t('admin.apps.title')}>
        {count !== undefined && <span class="meta">{t('admin.apps.count', { count })}</span>}
        <CsvButton file="applications" path="oauth2-clients" parameters={requested} columns={CSV_COLUMNS} />
        <a class="button button-primary" href={`${root}applications/new`}>
          {t('admin.apps.add')}
        </a>
      </PageTitle>
      <FilterBar
        searchLabel={t('admin.apps.search')}
        choices={[
          {
            name: 'kind',
            label: t('admin.apps.kind'),
            options: (['managed', 'static', 'dynamic', 'builtin'] as const).map((value) => ({
              value,
              text: t(KINDS[value]),
            })),
          },
          {
            name: 'disabled',
            label: t('admin.apps.status'),
            options: [
              { value: 'false', text: t('admin.apps.enabled') },
              { value: 'true', text: t('admin.apps.disabled') },
            ],
          },
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}applications`, changed), true)}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t('admin.apps.none')}</p>
          ) : (
            <>
              <ApplicationTable clients={shown.data} isLoading={list.isLoading} />
              <Pager list={shown} filters={filters} label={t('admin.apps.pages')} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function ApplicationTable({ clients, isLoading }: { clients: readonly Resource<Client>[]; isLoading: boolean }): VNode {
  const { t, language } = useTexts();
  const { root } = useConfig();
  const sessions = (count: number) => `${count.toLocaleString(language)}${count >= MAX_COUNTED ? '+' : ''}`;
  return (
    <DataTable
      label={t('admin.apps.title')}
      rows={clients}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.apps.name'),
          cell: ({ id, attributes }) => (
            <a href={`${root}applications/${id}`} class="row-link break-all">
              <bdi>{nameOf(attributes)}</bdi>
            </a>
          ),
        },
        { title: t('admin.apps.kind'), cell: ({ attributes }) => t(KINDS[attributes.kind]) },
        { title: t('admin.apps.status'), cell: ({ attributes }) => <ApplicationStatus client={attributes} /> },
        { title: t('admin.apps.sessions'), cell: ({ attributes }) => sessions(attributes.active_sessions) },
        {
          title: t('admin.apps.last_used'),
          cell: ({ attributes: { last_used_at } }) =>
            last_used_at === null ? t('admin.apps.never') : <Time at={last_used_at} />,
        },
      ]}
    />
  );
}
