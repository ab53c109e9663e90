import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { useClient } from '../../api/context.ts';
import type { ClientConnection, ClientTest, Single } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CopyValue } from '../../components/copy-button.tsx';
import { Loaded, ProblemNotice } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useAnnounce } from '../../frame/live.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { Finding } from './finding.tsx';
import { PresetSteps } from './preset-steps.tsx';
import { NewSecret } from './secrets.tsx';

const CONNECTIONS = new Responses<Single<ClientConnection>>();

/** What to enter in the application, and a test of what can be tested without a user. */
export function Connect(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const connection = useResource(CONNECTIONS, `oauth2-clients/${encodeURIComponent(id)}/connect`);
  return (
    <>
      <p>
        <a href={`${root}applications/${id}`}>{t('admin.apps.one')}</a>
      </p>
      <PageTitle title={t('admin.apps.connect.title')} />
      <NewSecret id={id} />
      <Loaded resource={connection}>
        {({ data: { attributes } }) => (
          <>
            <PresetSteps connection={attributes} />
            <Values connection={attributes} />
          </>
        )}
      </Loaded>
      <Test id={id} />
    </>
  );
}

const ENDPOINTS = [
  ['authorization_endpoint', 'admin.apps.connect.authorize'],
  ['token_endpoint', 'admin.apps.connect.token'],
  ['userinfo_endpoint', 'admin.apps.connect.userinfo'],
  ['jwks_uri', 'admin.apps.connect.keys'],
  ['end_session_endpoint', 'admin.apps.connect.logout'],
  ['device_authorization_endpoint', 'admin.apps.connect.device'],
] as const satisfies readonly (readonly [keyof ClientConnection, AdminKey])[];

function Values({ connection }: { connection: ClientConnection }): VNode {
  const { t } = useTexts();
  const row = (name: string, value: string) => (
    <FactRow key={name} name={name}>
      <CopyValue name={name} value={value} />
    </FactRow>
  );
  const { client_auth_method: method, groups_claim, has_secret, redirect_uris, scopes } = connection;
  return (
    <>
      <section class="card section">
        <h2>{t('admin.apps.connect.values')}</h2>
        <p>{t('admin.apps.connect.text')}</p>
        <FactList>
          {row(t('admin.apps.connect.issuer'), connection.issuer)}
          {row(t('admin.apps.connect.discovery'), connection.discovery_url)}
          {row(t('admin.apps.client_id'), connection.client_id)}
          <FactRow name={t('admin.apps.secret.name')}>
            {t(has_secret ? 'admin.apps.connect.secret' : 'admin.apps.connect.no_secret')}
          </FactRow>
          <FactRow name={t('admin.apps.field.auth_method')}>
            <code>{method}</code>
          </FactRow>
          {scopes.length > 0 && row(t('admin.apps.field.scope'), scopes.join(' '))}
          {groups_claim !== null && row(t('admin.apps.connect.groups'), groups_claim)}
          {redirect_uris.map((uri) => row(t('admin.apps.connect.redirect_uri'), uri))}
        </FactList>
      </section>
      <section class="card section">
        <h2>{t('admin.apps.connect.endpoints')}</h2>
        <p>{t('admin.apps.connect.endpoints_text')}</p>
        <FactList>
          {ENDPOINTS.map(([name, label]) => {
            const value = connection[name];
            return value !== null && row(t(label), value);
          })}
        </FactList>
      </section>
    </>
  );
}

function Test({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const [test, setTest] = useState<ClientTest | undefined>();
  const run = async (): Promise<void> => {
    const response = await send(() => client.post<Single<ClientTest>>(`oauth2-clients/${id}/test`));
    if (!response.ok) return;
    const { attributes } = response.data.data;
    setTest(attributes);
    announce(t('admin.apps.test.done', { count: attributes.findings.filter(({ status }) => status !== 'ok').length }));
  };
  return (
    <section class="card section">
      <h2>{t('admin.apps.test')}</h2>
      <p>{t('admin.apps.test.text')}</p>
      <div class="actions">
        <Button kind="secondary" isPending={isPending} onClick={() => void run()}>
          {t('admin.apps.test.run')}
        </Button>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {test !== undefined && (
        <ul class="rows">
          {test.findings.map((finding) => (
            <Finding key={`${finding.member} ${finding.url} ${finding.code}`} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  );
}
