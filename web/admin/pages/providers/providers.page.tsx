import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../../api/admin-client.ts';
import type { Count, List, Resource, UpstreamProvider } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CsvButton, type CsvColumn } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import {
  Discovery,
  Keys,
  LastError,
  LinkedUsers,
  ProviderState,
  providerName,
  TimeOrNever,
} from './provider-state.tsx';

const PAGE_SIZE = 25;

const LISTS = new Responses<List<UpstreamProvider>>();
const COUNTS = new Responses<Count>();

/** Names of the API, so that programs can read the file in every language. */
const CSV_COLUMNS: readonly CsvColumn<UpstreamProvider>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'human_name', value: ({ attributes }) => attributes.human_name },
  { name: 'issuer', value: ({ attributes }) => attributes.issuer },
  { name: 'state', value: ({ attributes }) => attributes.state },
  { name: 'linked_users', value: ({ attributes }) => String(attributes.linked_users) },
  { name: 'discovery_fetched_at', value: ({ attributes }) => attributes.discovery.fetched_at },
  { name: 'keys_fetched_at', value: ({ attributes }) => attributes.keys.fetched_at },
  { name: 'last_success_at', value: ({ attributes }) => attributes.last_success_at },
  { name: 'last_error', value: ({ attributes }) => attributes.last_error?.code ?? null },
  { name: 'last_error_at', value: ({ attributes }) => attributes.last_error?.at ?? null },
];

/** The sign-in providers of the configuration, and whether they work. */
export function Providers(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const { enabled } = query;
  const requested = { 'filter[enabled]': enabled };
  const list = useResource(
    LISTS,
    withParameters('upstream-oauth-providers', {
      ...requested,
      ...pageParameters(query, PAGE_SIZE),
      count: 'false',
    }),
    true,
  );
  const counted = useResource(
    COUNTS,
    withParameters('upstream-oauth-providers', { ...requested, count: 'only' }),
    true,
  );
  const count = counted.data?.meta.count;
  return (
    <>
      <PageTitle title={t('admin.providers.title')}>
        {count !== undefined && <span class="meta">{t('admin.providers.count', { count })}</span>}
        <CsvButton
          file="sign-in-providers"
          path="upstream-oauth-providers"
          parameters={requested}
          columns={CSV_COLUMNS}
        />
      </PageTitle>
      <p>{t('admin.providers.text')}</p>
      <FilterForm
        key={enabled ?? ''}
        fields={[
          {
            name: 'enabled',
            label: t('admin.providers.use'),
            options: [
              { value: 'true', text: t('admin.providers.in_use') },
              { value: 'false', text: t('admin.providers.not_in_use') },
            ],
          },
        ]}
        values={{ enabled }}
        onChange={(changed) => route(withParameters(`${root}providers`, changed))}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t((enabled ?? '') === '' ? 'admin.providers.empty' : 'admin.providers.none')}</p>
          ) : (
            <>
              <ProviderTable providers={shown.data} isLoading={list.isLoading} />
              <Pager list={shown} filters={{ enabled }} label={t('admin.providers.pages')} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function ProviderTable({
  providers,
  isLoading,
}: {
  providers: readonly Resource<UpstreamProvider>[];
  isLoading: boolean;
}): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.providers.title')}
      rows={providers}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.providers.name'),
          cell: ({ id, attributes }) => (
            <a href={`${root}providers/${id}`} class="row-link break-all">
              <bdi>{providerName(id, attributes)}</bdi>
            </a>
          ),
        },
        { title: t('admin.providers.state'), cell: ({ attributes }) => <ProviderState state={attributes.state} /> },
        {
          title: t('admin.providers.discovery'),
          cell: ({ attributes }) => <Discovery discovery={attributes.discovery} />,
        },
        { title: t('admin.providers.keys'), cell: ({ attributes }) => <Keys keys={attributes.keys} /> },
        {
          title: t('admin.providers.last_success'),
          cell: ({ attributes }) => <TimeOrNever at={attributes.last_success_at} />,
        },
        {
          title: t('admin.providers.last_error'),
          cell: ({ attributes }) => <LastError error={attributes.last_error} />,
        },
        {
          title: t('admin.providers.linked'),
          cell: ({ attributes }) => <LinkedUsers count={attributes.linked_users} />,
        },
      ]}
    />
  );
}
