import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { type Parameters, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { List, Resource, Session } from '../../api/documents.ts';
import { findUserId } from '../../api/find-user.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { browserName } from '../../components/browser-name.ts';
import { BulkBar, useSelection } from '../../components/bulk-bar.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { type FilterField, FilterForm, type ResolvedFilters } from '../../components/filter-form.tsx';
import { Loaded, useProblemText } from '../../components/loaded.tsx';
import { OlderPager } from '../../components/older-pager.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';

const PAGE_SIZE = 25;
const SESSIONS = new Responses<List<Session>>();

/** Lists of the API, by tab. */
const PATHS = { apps: 'oauth2-sessions', browsers: 'user-sessions', chat: 'compat-sessions' } as const;
/** Kinds in the body of `bulkFinishSessions`. */
const KINDS = { apps: 'oauth2', browsers: 'browser', chat: 'compat' } as const;
type Kind = keyof typeof PATHS;

/** Sessions of all users, the newest first. */
export function Sessions(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const tabs = [
    { name: 'apps', title: t('admin.sessions.apps') },
    { name: 'browsers', title: t('admin.sessions.browsers') },
    { name: 'chat', title: t('admin.sessions.chat') },
  ] as const;
  const kind: Kind = useTab<Kind>(tabs);
  const { user, client, address, status = 'active' } = query;
  const filters = { user, client: kind === 'apps' ? client : undefined, address, status };
  const kept = {
    ...filters,
    status: status === 'active' ? undefined : status,
    tab: kind === 'apps' ? undefined : kind,
  };
  const list = useResource(
    SESSIONS,
    withParameters(PATHS[kind], {
      'filter[user]': filters.user,
      'filter[client]': filters.client,
      'filter[address]': filters.address,
      'filter[status]': status === 'all' ? undefined : status,
      // The API lists them in the order of their start.
      'page[last]': String(PAGE_SIZE),
      'page[before]': query['before'],
      count: 'false',
    }),
    true,
  );
  const resolve = useNames();
  return (
    <>
      <PageTitle title={t('admin.sessions.title')} />
      <Tabs label={t('admin.sessions.kinds')} tabs={tabs} shown={kind} />
      <FilterForm
        key={JSON.stringify(kept)}
        fields={useFields(kind)}
        values={filters}
        defaults={{ status: 'active' }}
        resolve={resolve}
        onChange={({ status: wanted, ...changed }) =>
          route(withParameters(`${root}sessions`, { ...changed, status: statusOf(wanted), tab: kept.tab }))
        }
      />
      <Loaded resource={list}>
        {({ data, links }) => (
          <>
            {data.length === 0 ? (
              <p>{t('admin.sessions.none')}</p>
            ) : (
              <SessionTable kind={kind} sessions={data.toReversed()} list={list} shown={JSON.stringify(query)} />
            )}
            <OlderPager
              before={links.prev === undefined ? undefined : data[0]?.id}
              filters={kept}
              label={t('admin.sessions.pages')}
              title={t('admin.pager.older')}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** The status in the URL: active sessions are shown without it. */
function statusOf(wanted: string | undefined): string | undefined {
  if (wanted === 'active') return undefined;
  return wanted === '' ? 'all' : wanted;
}

function useFields(kind: Kind): readonly FilterField[] {
  const { t } = useTexts();
  return [
    { name: 'user', label: t('admin.sessions.user'), hint: t('admin.sessions.user_hint') },
    ...(kind === 'apps'
      ? [{ name: 'client', label: t('admin.sessions.client'), hint: t('admin.sessions.client_hint') }]
      : []),
    { name: 'address', label: t('admin.sessions.address'), hint: t('admin.sessions.address_hint') },
    {
      name: 'status',
      label: t('admin.sessions.status'),
      options: [
        { value: 'active', text: t('admin.sessions.active') },
        { value: 'finished', text: t('admin.sessions.ended') },
      ],
    },
  ];
}

/** Returns a function that replaces a username with its ID. */
function useNames() {
  const { t } = useTexts();
  const client = useClient();
  const textOf = useProblemText();
  return async (typed: Parameters): Promise<ResolvedFilters> => {
    const { user = '' } = typed;
    if (user === '') return { ok: true, values: typed };
    const found = await findUserId(client, user);
    if (found.ok) return { ok: true, values: { ...typed, user: found.data } };
    const { problem } = found;
    const isUnknown = problem.kind === 'refused' && problem.code === 'not_found';
    return { ok: false, name: 'user', problem: isUnknown ? t('admin.filter.no_user') : textOf(problem) };
  };
}

function SessionTable({
  kind,
  sessions,
  list,
  shown,
}: {
  kind: Kind;
  sessions: readonly Resource<Session>[];
  /** Identifies the part of the list. */
  shown: string;
  list: { readonly isLoading: boolean; readonly reload: () => void };
}): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const client = useClient();
  const [ending, setEnding] = useState<Resource<Session> | undefined>();
  const [isEndingMany, setEndingMany] = useState(false);
  const selection = useSelection(shown);
  const count = selection.ids.size;
  const named: Readonly<Record<Kind, Column<Resource<Session>>>> = {
    apps: {
      title: t('admin.sessions.client'),
      cell: ({ attributes: { client_id: id, client_name: name } }) => <bdi>{name ?? id}</bdi>,
    },
    browsers: {
      title: t('admin.sessions.user_agent'),
      cell: ({ attributes: { user_agent: header } }) => <bdi>{header == null ? '–' : browserName(header)}</bdi>,
    },
    chat: {
      title: t('admin.sessions.device'),
      cell: ({ attributes: { human_name: name, device_id: device } }) => <bdi>{name ?? device ?? '–'}</bdi>,
    },
  };
  return (
    <>
      <BulkBar selection={selection}>
        <Button kind="secondary" onClick={() => setEndingMany(true)}>
          {t('admin.sessions.end_many')}
        </Button>
      </BulkBar>
      <DataTable
        label={t('admin.sessions.title')}
        selection={{ ...selection, nameOf }}
        rows={sessions}
        isLoading={list.isLoading}
        columns={[
          {
            title: t('admin.sessions.user'),
            cell: ({ attributes: { user_id: id, username } }) =>
              id === null ? (
                <span class="meta">{t('admin.sessions.no_user')}</span>
              ) : (
                <a href={`${root}users/${id}`}>
                  <bdi>{username ?? id}</bdi>
                </a>
              ),
          },
          named[kind],
          { title: t('admin.sessions.started'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
          {
            title: t('admin.sessions.last_active'),
            cell: ({ attributes: { last_active_at: at, last_active_ip: address } }) => (
              <span>
                {at === null ? '–' : <Time at={at} />}
                {address !== null && <span class="meta"> {address}</span>}
              </span>
            ),
          },
          {
            title: t('admin.sessions.status'),
            cell: (session) =>
              session.attributes.finished_at === null ? (
                <Button
                  kind="quiet"
                  label={t('admin.sessions.end_label', { name: nameOf(session) })}
                  onClick={() => setEnding(session)}
                >
                  {t('admin.sessions.end')}
                </Button>
              ) : (
                <span class="meta">{t('admin.sessions.ended')}</span>
              ),
          },
        ]}
      />
      {isEndingMany && (
        <Confirm
          title={t('admin.sessions.end_many_title', { count })}
          action={t('admin.sessions.end_many')}
          kind="danger"
          done={t('admin.sessions.end_many_done', { count })}
          onConfirm={() => client.post('sessions/bulk-finish', { kind: KINDS[kind], ids: [...selection.ids] })}
          onDone={() => {
            selection.clear();
            list.reload();
          }}
          onClose={() => setEndingMany(false)}
        >
          {t(kind === 'browsers' ? 'admin.sessions.end_many_text_browser' : 'admin.sessions.end_many_text')}
        </Confirm>
      )}
      {ending !== undefined && (
        <Confirm
          title={t('admin.sessions.end_title', { name: nameOf(ending) })}
          action={t('admin.sessions.end')}
          kind="danger"
          done={t('admin.sessions.end_done', { name: nameOf(ending) })}
          onConfirm={() => client.post(`${PATHS[kind]}/${ending.id}/finish`)}
          onDone={list.reload}
          onClose={() => setEnding(undefined)}
        >
          {t(kind === 'browsers' ? 'admin.sessions.end_text_browser' : 'admin.sessions.end_text')}
        </Confirm>
      )}
    </>
  );
}

/** Names a session for its user and what the user signed in with. */
function nameOf({
  id,
  attributes: { username, client_name: app, human_name: name, device_id: device },
}: Resource<Session>) {
  const owner = username ?? id;
  const thing = app ?? name ?? device;
  return thing === null || thing === undefined ? owner : `${owner} – ${thing}`;
}
