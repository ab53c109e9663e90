import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { Button } from '../../../components/button.tsx';
import { withParameters } from '../../api/admin-client.ts';
import type { Count, Invitation, List, Resource } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CsvButton, type CsvColumn } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { nameOf } from './invitation.ts';
import { StatusText, Uses } from './invitation-status.tsx';
import { NewInvitation } from './new-invitation.tsx';

const PAGE_SIZE = '25';
const PATH = 'user-registration-tokens';

const LISTS = new Responses<List<Invitation>>();
const COUNTS = new Responses<Count>();
const SITES = new Responses<{ readonly password_registration_enabled: boolean }>();

/** Names of the API, so that programs can read the file in every language. Links are secrets, and omitted. */
const CSV_COLUMNS: readonly CsvColumn<Invitation>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'email', value: ({ attributes }) => attributes.email },
  { name: 'note', value: ({ attributes }) => attributes.note },
  { name: 'groups', value: ({ attributes }) => attributes.groups.join(' ') },
  { name: 'usage_limit', value: ({ attributes }) => attributes.usage_limit?.toString() },
  { name: 'times_used', value: ({ attributes }) => String(attributes.times_used) },
  { name: 'created_at', value: ({ attributes }) => attributes.created_at },
  { name: 'expires_at', value: ({ attributes }) => attributes.expires_at },
  { name: 'revoked_at', value: ({ attributes }) => attributes.revoked_at },
  { name: 'mail_sent_at', value: ({ attributes }) => attributes.mail_sent_at },
];

/** All invitations, the newest first. */
export function Invitations(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const [isAdding, setAdding] = useState(false);
  const { search, status, before } = query;
  const filters = { search, status };
  const state = ['valid', 'used', 'expired', 'revoked'].find((name) => name === status);
  const requested = { 'filter[search]': search, ...(state !== undefined && { [`filter[${state}]`]: 'true' }) };
  const part = { 'page[last]': PAGE_SIZE, 'page[before]': before, count: 'false' };
  const list = useResource(LISTS, withParameters(PATH, { ...requested, ...part }), true);
  const count = useResource(COUNTS, withParameters(PATH, { ...requested, count: 'only' }), true).data?.meta.count;
  const isOpen = useResource(SITES, 'site-config').data?.password_registration_enabled;
  return (
    <>
      <PageTitle title={t('admin.invitations.title')}>
        {count !== undefined && <span class="meta">{t('admin.invitations.count', { count })}</span>}
        <CsvButton file="invitations" path={PATH} parameters={requested} columns={CSV_COLUMNS} />
        <Button onClick={() => setAdding(true)}>{t('admin.invitations.add')}</Button>
      </PageTitle>
      {isOpen === false && (
        <Notice kind="warning">
          <p>{t('admin.invitations.closed')}</p>
        </Notice>
      )}
      <FilterBar
        searchLabel={t('admin.invitations.search')}
        choices={[
          {
            name: 'status',
            label: t('admin.invitations.status'),
            options: [
              { value: 'valid', text: t('admin.invitations.valid') },
              { value: 'used', text: t('admin.invitations.used') },
              { value: 'expired', text: t('admin.invitations.expired') },
              { value: 'revoked', text: t('admin.invitations.revoked') },
            ],
          },
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}invitations`, changed), true)}
      />
      <Loaded resource={list}>
        {(shown) => {
          const rows = shown.data.toReversed();
          if (rows.length === 0) return <p>{t('admin.invitations.none')}</p>;
          return (
            <>
              <InvitationTable rows={rows} isLoading={list.isLoading} />
              <Older filters={filters} before={shown.links.prev === undefined ? undefined : rows.at(-1)?.id} />
            </>
          );
        }}
      </Loaded>
      {isAdding && (
        <NewInvitation onDone={(id) => route(`${root}invitations/${id}`)} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

function InvitationTable({ rows, isLoading }: { rows: readonly Resource<Invitation>[]; isLoading: boolean }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.invitations.title')}
      rows={rows}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.invitations.for'),
          cell: ({ id, attributes }) => (
            <a href={`${root}invitations/${id}`} class="row-link">
              <bdi>{nameOf(attributes)}</bdi>
            </a>
          ),
        },
        { title: t('admin.invitations.status'), cell: ({ attributes }) => <StatusText invitation={attributes} /> },
        { title: t('admin.invitations.accounts'), cell: ({ attributes }) => <Uses invitation={attributes} /> },
        { title: t('admin.invitations.created'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
        {
          title: t('admin.invitations.expires'),
          cell: ({ attributes: { expires_at } }) =>
            expires_at === null ? t('admin.invitations.never') : <Time at={expires_at} />,
        },
      ]}
    />
  );
}

/** Links of the list to older invitations, and back to the newest. */
function Older({
  filters,
  before,
}: {
  filters: Readonly<Record<string, string | undefined>>;
  /** Undefined on the last page. */
  before: string | undefined;
}): VNode | null {
  const { t } = useTexts();
  const { path, query } = useLocation();
  const isFirst = query['before'] === undefined;
  if (isFirst && before === undefined) return null;
  return (
    <nav class="pages" aria-label={t('admin.invitations.pages')}>
      {!isFirst && <a href={withParameters(path, filters)}>{t('admin.invitations.newest')}</a>}
      {before !== undefined && (
        <a class="pages-older" href={withParameters(path, { ...filters, before })}>
          {t('admin.invitations.older')}
        </a>
      )}
    </nav>
  );
}
