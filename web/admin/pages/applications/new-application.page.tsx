import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { Form } from '../../../components/form.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { ClientDetails, WithSecret } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { fieldErrors, useDraftForm } from '../../components/form-dialog.tsx';
import { ProblemNotice, useProblemText } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { ApplicationFields, bodyOf, type FieldValues, valuesWith } from './application-form.tsx';
import { keepSecret } from './new-secrets.ts';

interface AppKind {
  readonly name: string;
  readonly title: AdminKey;
  readonly text: AdminKey;
  readonly values: Partial<FieldValues>;
}

/** What an application is decides its authentication and its grants. */
const APP_KINDS: readonly AppKind[] = [
  {
    name: 'server',
    title: 'admin.apps.new.server',
    text: 'admin.apps.new.server_text',
    values: {
      client_auth_method: 'client_secret_basic',
      application_type: 'web',
      grant_types: 'authorization_code\nrefresh_token',
    },
  },
  {
    name: 'public',
    title: 'admin.apps.new.public',
    text: 'admin.apps.new.public_text',
    values: { client_auth_method: 'none', grant_types: 'authorization_code\nrefresh_token' },
  },
  {
    name: 'device',
    title: 'admin.apps.new.device',
    text: 'admin.apps.new.device_text',
    values: {
      client_auth_method: 'none',
      application_type: 'native',
      redirect_uris: 'http://127.0.0.1/callback',
      grant_types: 'authorization_code\nrefresh_token\nurn:ietf:params:oauth:grant-type:device_code',
    },
  },
  {
    name: 'service',
    title: 'admin.apps.new.service',
    text: 'admin.apps.new.service_text',
    values: { client_auth_method: 'client_secret_basic', grant_types: 'client_credentials' },
  },
];

/** Adds an application: first what it is, then its properties. */
export function NewApplication(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, path } = useLocation();
  const kind = APP_KINDS.find(({ name }) => name === query['kind']);
  return (
    <>
      <p>
        <a href={kind === undefined ? `${root}applications` : path}>
          {t(kind === undefined ? 'admin.apps.back' : 'admin.apps.new.back')}
        </a>
      </p>
      <PageTitle title={t(kind?.title ?? 'admin.apps.new.title')} />
      {kind === undefined ? <Kinds /> : <NewForm key={kind.name} kind={kind} />}
    </>
  );
}

function Kinds(): VNode {
  const { t } = useTexts();
  const { path } = useLocation();
  return (
    <>
      <p>{t('admin.apps.new.question')}</p>
      <ul class="kinds">
        {APP_KINDS.map(({ name, title, text }) => (
          <li key={name} class="card">
            <a class="row-link" href={withParameters(path, { kind: name })}>
              <strong>{t(title)}</strong>
            </a>
            <p class="meta">{t(text)}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

function NewForm({ kind }: { kind: AppKind }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { route } = useLocation();
  const client = useClient();
  const textOf = useProblemText();
  const form = useDraftForm(`new-${kind.name}`, valuesWith(kind.values));
  const { isPending, problem, send } = useChange();
  const [isAtField, setAtField] = useState(false);
  const submit = async (): Promise<void> => {
    const answer = await send(() => client.post<WithSecret<ClientDetails>>('oauth2-clients', bodyOf(form.values)));
    if (!answer.ok) {
      const errors = fieldErrors(answer.problem, form.values, textOf);
      setAtField(errors !== undefined);
      if (errors !== undefined) form.reject(errors);
      return;
    }
    form.forget();
    const { data, meta } = answer.data;
    if (meta?.client_secret !== undefined) keepSecret(data.id, meta.client_secret);
    route(`${root}applications/${data.id}/connect`, true);
  };
  return (
    <section class="card section">
      <p>{t(kind.text)}</p>
      <Form isPending={isPending} onSubmit={submit}>
        <ApplicationFields form={form} />
        {problem !== undefined && !isAtField && <ProblemNotice problem={problem} />}
        <div class="actions">
          <Button isPending={isPending}>{t('admin.apps.new.create')}</Button>
        </div>
      </Form>
    </section>
  );
}
