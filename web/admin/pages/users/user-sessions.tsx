import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Client, List, Resource, Session, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { browserName } from '../../components/browser-name.ts';
import { BulkBar, useSelection } from '../../components/bulk-bar.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';

const SHOWN = 50;

const KINDS = {
  browser: { path: 'user-sessions', title: 'admin.user.browser_sessions' },
  oauth2: { path: 'oauth2-sessions', title: 'admin.user.app_sessions' },
  compat: { path: 'compat-sessions', title: 'admin.user.chat_sessions' },
} as const;

type Kind = keyof typeof KINDS;

const LISTS = new Responses<List<Session>>();

/** The active sessions of an account, newest first. */
export function UserSessions({ id, kinds }: { id: string; kinds: readonly Kind[] }): VNode {
  return (
    <>
      {kinds.map((kind) => (
        <SessionsOfKind key={kind} id={id} kind={kind} />
      ))}
    </>
  );
}

function SessionsOfKind({ id, kind }: { id: string; kind: Kind }): VNode {
  const { t } = useTexts();
  const { path, title } = KINDS[kind];
  const parameters = { 'filter[user]': id, 'filter[status]': 'active', 'page[last]': String(SHOWN), count: 'false' };
  const list = useResource(LISTS, withParameters(path, parameters));
  return (
    <section class="section">
      <h2>{t(title)}</h2>
      <Loaded resource={list}>
        {({ data, links }) =>
          data.length === 0 ? (
            <p class="meta">{t('admin.user.no_sessions')}</p>
          ) : (
            <>
              <Sessions kind={kind} sessions={data.toReversed()} isLoading={list.isLoading} reload={list.reload} />
              {links.prev !== undefined && <p class="meta">{t('admin.user.more_sessions', { count: SHOWN })}</p>}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Sessions({
  kind,
  sessions,
  isLoading,
  reload,
}: {
  kind: Kind;
  sessions: readonly Resource<Session>[];
  isLoading: boolean;
  reload: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const selection = useSelection(kind);
  const [isAsking, setAsking] = useState(false);
  const count = selection.ids.size;
  const columns: readonly [Column<Resource<Session>>, ...Column<Resource<Session>>[]] = [
    {
      title: t(kind === 'oauth2' ? 'admin.user.app' : 'admin.user.session'),
      cell: ({ attributes }) => <SessionName kind={kind} session={attributes} />,
    },
    { title: t('admin.user.started'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
    {
      title: t('admin.user.last_active'),
      cell: ({ attributes: { last_active_at } }) => (last_active_at === null ? '–' : <Time at={last_active_at} />),
    },
    {
      title: t('admin.user.address'),
      cell: ({ attributes: { last_active_ip } }) => <bdi>{last_active_ip ?? '–'}</bdi>,
    },
  ];
  return (
    <>
      <DataTable
        label={t(KINDS[kind].title)}
        rows={sessions}
        isLoading={isLoading}
        selection={{
          ...selection,
          nameOf: ({ attributes: { created_at, user_agent } }) =>
            user_agent === null ? created_at : browserName(user_agent),
        }}
        columns={columns}
      />
      <BulkBar selection={selection}>
        <Button kind="danger" onClick={() => setAsking(true)}>
          {t('admin.user.end_selected')}
        </Button>
      </BulkBar>
      {isAsking && (
        <Confirm
          title={t('admin.user.end_selected_title', { count })}
          action={t('admin.user.end_selected')}
          kind="danger"
          done={t('admin.user.selected_ended', { count })}
          onConfirm={() => client.post('sessions/bulk-finish', { kind, ids: [...selection.ids] })}
          onDone={() => {
            selection.clear();
            reload();
          }}
          onClose={() => setAsking(false)}
        >
          {t('admin.user.end_selected_text')}
        </Confirm>
      )}
    </>
  );
}

function SessionName({ kind, session }: { kind: Kind; session: Session }): VNode {
  const { t } = useTexts();
  const { client_id, device_id, human_name, user_agent } = session;
  const browser = kind === 'oauth2' || user_agent === null ? undefined : browserName(user_agent);
  const name = human_name ?? browser ?? device_id ?? undefined;
  return (
    <span class="session-name">
      {client_id !== undefined && <ClientName id={client_id} />}
      {name !== undefined && <bdi class={client_id === undefined ? undefined : 'meta'}>{name}</bdi>}
      {client_id === undefined && name === undefined && <span class="meta">{t('admin.user.unnamed')}</span>}
    </span>
  );
}

const CLIENTS = new Responses<Single<Client>>();

function ClientName({ id }: { id: string }): VNode {
  const client = useResource(CLIENTS, `oauth2-clients/${id}`);
  return <bdi>{client.data?.data.attributes.client_name ?? id}</bdi>;
}
