import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Count, Group, List, Resource, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { DataTable } from '../../components/data-table.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { GroupFields, useGroupBody } from './group-fields.tsx';
import { GroupSource, MemberCount } from './group-source.tsx';

const PAGE_SIZE = 25;

const LISTS = new Responses<List<Group>>();
const COUNTS = new Responses<Count>();

/** All groups, with search and filters. */
export function Groups(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const { search, external, sort } = query;
  const filters = { search, external };
  const requested = { 'filter[search]': search, 'filter[external]': external };
  const list = useResource(
    LISTS,
    withParameters('groups', {
      ...requested,
      sort: sort ?? 'name',
      ...pageParameters(query, PAGE_SIZE),
      count: 'false',
    }),
    true,
  );
  const count = useResource(COUNTS, withParameters('groups', { ...requested, count: 'only' }), true).data?.meta.count;
  const isFiltered = (search ?? '') !== '' || (external ?? '') !== '';
  return (
    <>
      <PageTitle title={t('admin.groups.title')}>
        {count !== undefined && <span class="meta">{t('admin.groups.count', { count })}</span>}
        <Button onClick={() => setCreating(true)}>{t('admin.groups.new')}</Button>
      </PageTitle>
      <FilterBar
        searchLabel={t('admin.groups.search')}
        choices={[
          {
            name: 'external',
            label: t('admin.groups.source'),
            options: [
              { value: 'false', text: t('admin.groups.own') },
              { value: 'true', text: t('admin.groups.external') },
            ],
          },
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}groups`, { ...changed, sort }), true)}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t(isFiltered ? 'admin.groups.none' : 'admin.groups.empty')}</p>
          ) : (
            <>
              <GroupTable groups={shown.data} isLoading={list.isLoading} />
              <Pager list={shown} filters={{ ...filters, sort }} label={t('admin.groups.pages')} />
            </>
          )
        }
      </Loaded>
      {isCreating && <NewGroup onDone={(id) => route(`${root}groups/${id}`)} onClose={() => setCreating(false)} />}
    </>
  );
}

function GroupTable({ groups, isLoading }: { groups: readonly Resource<Group>[]; isLoading: boolean }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.groups.title')}
      rows={groups}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.groups.name'),
          sort: 'name',
          cell: ({ id, attributes: { name } }) => (
            <a href={`${root}groups/${id}`} class="row-link">
              <bdi>{name}</bdi>
            </a>
          ),
        },
        {
          title: t('admin.groups.description'),
          cell: ({ attributes: { description } }) => <bdi class="meta">{description ?? '–'}</bdi>,
        },
        {
          title: t('admin.groups.members'),
          cell: ({ attributes }) => <MemberCount count={attributes.member_count} />,
        },
        { title: t('admin.groups.source'), cell: ({ attributes }) => <GroupSource group={attributes} /> },
        {
          title: t('admin.groups.created_at'),
          sort: 'id',
          cell: ({ attributes }) => <Time at={attributes.created_at} />,
        },
      ]}
    />
  );
}

function NewGroup({ onDone, onClose }: { onDone: (id: string) => void; onClose: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const form = useDraftForm('new-group', { name: '', description: '' });
  const body = useGroupBody(form);
  return (
    <FormDialog
      title={t('admin.groups.new')}
      action={t('admin.groups.create')}
      form={form}
      done={t('admin.groups.created', { name: form.values.name.trim() })}
      onSubmit={() => {
        const wanted = body();
        return wanted === undefined ? undefined : client.post<Single<Group>>('groups', wanted);
      }}
      onDone={({ data }) => onDone(data.id)}
      onClose={onClose}
    >
      <GroupFields form={form} />
    </FormDialog>
  );
}
