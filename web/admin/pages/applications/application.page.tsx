import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import type { Problem, TestResponse, Versioned } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { ClientDetails, Single } from '../../api/documents.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CopyValue } from '../../components/copy-button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { ACCESS, ApplicationStatus, KINDS, nameOf } from './application-name.tsx';
import { EditForm } from './edit-form.tsx';
import { Secrets } from './secrets.tsx';

type Stored = Versioned<Single<ClientDetails>>;

/** One application: what is stored about it, and the actions on it. */
export function ApplicationView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const stored = useStored(id);
  const name = stored.data === undefined ? t('admin.apps.one') : nameOf(stored.data.document.data.attributes);
  return (
    <>
      <p>
        <a href={`${root}applications`}>{t('admin.apps.back')}</a>
      </p>
      <PageTitle title={name}>
        <a class="button button-secondary" href={`${root}applications/${id}/connect`}>
          {t('admin.apps.connect')}
        </a>
      </PageTitle>
      <Loaded resource={stored}>
        {(shown) => {
          const { attributes } = shown.document.data;
          const isOwn = attributes.kind === 'managed' || attributes.kind === 'dynamic';
          return (
            <>
              <Facts id={id} client={attributes} />
              <section class="card section">
                <h2>{t('admin.apps.settings')}</h2>
                {attributes.kind === 'static' && <p>{t('admin.apps.static_text')}</p>}
                {attributes.kind === 'builtin' && <p>{t('admin.apps.builtin_text')}</p>}
                {attributes.kind === 'dynamic' && <p>{t('admin.apps.dynamic_text')}</p>}
                {isOwn && <EditForm key={shown.version} stored={shown} onStored={stored.reload} />}
              </section>
              <Secrets id={id} client={attributes} reload={stored.reload} />
              {isOwn && <Actions id={id} client={attributes} reload={stored.reload} />}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Reads an application with its version. */
function useStored(id: string) {
  const client = useClient();
  const [attempt, setAttempt] = useState(0);
  const [data, setData] = useState<Stored | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    const controller = new AbortController();
    setLoading(true);
    const show = (response: TestResponse<Stored>): void => {
      if (controller.signal.aborted) return;
      setLoading(false);
      setProblem(response.ok ? undefined : response.problem);
      if (response.ok) setData(response.data);
    };
    const path = `oauth2-clients/${encodeURIComponent(id)}`;
    void client.getVersion<Single<ClientDetails>>(path, controller.signal).then(show);
    return () => controller.abort();
  }, [client, id, attempt]);
  return { data, problem, isLoading, reload: () => setAttempt((before) => before + 1) };
}

function Facts({ id, client }: { id: string; client: ClientDetails }): VNode {
  const { t, language } = useTexts();
  const { client_id, created_at, kind, last_used_at, updated_at } = client;
  return (
    <section class="card section">
      <FactList>
        <FactRow name={t('admin.apps.client_id')}>
          <CopyValue name={t('admin.apps.client_id')} value={client_id} />
        </FactRow>
        {client_id !== id && (
          <FactRow name={t('admin.user.id')}>
            <code>{id}</code>
          </FactRow>
        )}
        <FactRow name={t('admin.apps.kind')}>{t(KINDS[kind])}</FactRow>
        <FactRow name={t('admin.apps.status')}>
          <ApplicationStatus client={client} />
        </FactRow>
        <FactRow name={t('admin.apps.access')}>{t(ACCESS[client.access])}</FactRow>
        <FactRow name={t('admin.apps.sessions')}>{client.active_sessions.toLocaleString(language)}</FactRow>
        <FactRow name={t('admin.apps.last_used')}>
          {last_used_at === null ? t('admin.apps.never') : <Time at={last_used_at} />}
        </FactRow>
        <FactRow name={t('admin.apps.created')}>
          <Time at={created_at} />
        </FactRow>
        {updated_at !== null && (
          <FactRow name={t('admin.apps.updated')}>
            <Time at={updated_at} />
          </FactRow>
        )}
      </FactList>
    </section>
  );
}

function Actions({ id, client, reload }: { id: string; client: ClientDetails; reload: () => void }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { route } = useLocation();
  const api = useClient();
  const [requested, setRequested] = useState<'switch' | 'delete' | undefined>();
  const name = nameOf(client);
  const isEnabled = client.disabled_at === null;
  return (
    <section class="card section">
      <h2>{t('admin.apps.actions')}</h2>
      <div class="actions">
        <Button kind="secondary" onClick={() => setRequested('switch')}>
          {t(isEnabled ? 'admin.apps.disable' : 'admin.apps.enable')}
        </Button>
        <Button kind="danger" onClick={() => setRequested('delete')}>
          {t('admin.apps.delete')}
        </Button>
      </div>
      {requested === 'switch' && (
        <Confirm
          title={t(isEnabled ? 'admin.apps.disable_title' : 'admin.apps.enable_title', { name })}
          action={t(isEnabled ? 'admin.apps.disable' : 'admin.apps.enable')}
          kind={isEnabled ? 'danger' : 'primary'}
          done={t(isEnabled ? 'admin.apps.disable_done' : 'admin.apps.enable_done', { name })}
          onConfirm={() => api.post(`oauth2-clients/${id}/${isEnabled ? 'disable' : 'enable'}`)}
          onDone={reload}
          onClose={() => setRequested(undefined)}
        >
          {t(isEnabled ? 'admin.apps.disable_text' : 'admin.apps.enable_text')}
        </Confirm>
      )}
      {requested === 'delete' && (
        <Confirm
          title={t('admin.apps.delete_title', { name })}
          action={t('admin.apps.delete')}
          kind="danger"
          done={t('admin.apps.delete_done', { name })}
          typed={name}
          onConfirm={() => api.delete(`oauth2-clients/${id}`)}
          onDone={() => route(`${root}applications`, true)}
          onClose={() => setRequested(undefined)}
        >
          {t('admin.apps.delete_text', { count: client.active_sessions })}
        </Confirm>
      )}
    </section>
  );
}
