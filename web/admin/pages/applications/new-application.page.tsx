import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { ClientDetails, ClientPreset, List, WithSecret } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { fieldErrors, useDraftForm } from '../../components/form-dialog.tsx';
import { Loaded, ProblemNotice, useProblemText } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useAnnounce } from '../../frame/live.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { ApplicationFields, bodyOf, type FieldValues, valuesWith } from './application-form.tsx';
import { nameOf } from './application-name.tsx';
import { keepSecret } from './new-secrets.ts';
import { normalizedUrl, presetValues } from './preset-values.ts';

interface AppKind {
  readonly name: string;
  readonly title: AdminKey;
  readonly text: AdminKey;
  readonly values: Partial<FieldValues>;
}

const PRESETS = new Responses<List<ClientPreset>>();

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
  const presets = useResource(PRESETS, 'client-presets');
  const kind = APP_KINDS.find(({ name }) => name === query['kind']);
  const slug = query['preset'];
  const preset = presets.data?.data.find(({ id }) => id === slug)?.attributes;
  const isChosen = kind !== undefined || slug !== undefined;
  const title = preset?.name ?? t(kind?.title ?? 'admin.apps.new.title');
  return (
    <>
      <p>
        <a href={isChosen ? path : `${root}applications`}>{t(isChosen ? 'admin.apps.new.back' : 'admin.apps.back')}</a>
      </p>
      <PageTitle title={title} />
      {kind !== undefined && <NewForm key={kind.name} name={kind.name} text={t(kind.text)} values={kind.values} />}
      {slug !== undefined && (
        <Loaded resource={presets}>
          {() =>
            preset === undefined ? <p>{t('admin.problem.not_found')}</p> : <FromPreset key={slug} preset={preset} />
          }
        </Loaded>
      )}
      {!isChosen && (
        <>
          <Kinds />
          <section class="card section">
            <h2>{t('admin.apps.preset.title')}</h2>
            <p>{t('admin.apps.preset.text')}</p>
            <Loaded resource={presets}>
              {({ data }) => (
                <ul class="preset-links">
                  {data
                    .filter(({ attributes }) => !attributes.registers_itself)
                    .map(({ id, attributes }) => (
                      <li key={id}>
                        <a href={withParameters(path, { preset: id })}>{attributes.name}</a>
                      </li>
                    ))}
                </ul>
              )}
            </Loaded>
          </section>
        </>
      )}
    </>
  );
}

/** Asks for the URL of the program, which its redirect URIs follow from. */
function FromPreset({ preset }: { preset: ClientPreset }): VNode {
  const { t } = useTexts();
  const { path, query, route } = useLocation();
  const url = preset.url === null ? '' : normalizedUrl(query['url'] ?? '');
  const form = useDraftForm(`preset-${preset.slug}`, { url: query['url'] ?? '' });
  if (url !== undefined) {
    return (
      <NewForm
        name={`preset-${preset.slug}-form`}
        text={t('admin.apps.preset.review', { name: preset.name })}
        values={presetValues(preset, url)}
        preset={preset.slug}
      />
    );
  }
  const submit = async (): Promise<void> => {
    const given = normalizedUrl(form.values.url);
    if (given === undefined) return form.reject({ url: t('admin.apps.preset.url_invalid') });
    form.forget();
    route(withParameters(path, { preset: preset.slug, url: given }));
  };
  return (
    <section class="card section">
      <Form isPending={false} onSubmit={submit}>
        <TextField
          name="url"
          label={t('admin.apps.preset.url', { name: preset.name })}
          autocomplete="off"
          value={form.values.url}
          error={form.errors.url}
          hint={[preset.url?.note, t('admin.apps.preset.url_example', { url: preset.url?.example ?? '' })]
            .filter((part) => part !== null && part !== undefined)
            .join(' ')}
          onInput={(value) => form.set('url', value)}
        />
        <div class="actions">
          <Button>{t('admin.apps.preset.continue')}</Button>
        </div>
      </Form>
    </section>
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

function NewForm({
  name,
  text,
  values,
  preset,
}: {
  name: string;
  text: string;
  values: Partial<FieldValues>;
  /** The preset that the values come from. */
  preset?: string;
}): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { route } = useLocation();
  const client = useClient();
  const announce = useAnnounce();
  const textOf = useProblemText();
  const form = useDraftForm(`new-${name}`, valuesWith(values));
  const { isPending, problem, send } = useChange();
  const [isAtField, setAtField] = useState(false);
  const submit = async (): Promise<void> => {
    const response = await send(() =>
      client.post<WithSecret<ClientDetails>>('oauth2-clients', { ...bodyOf(form.values), preset }),
    );
    if (!response.ok) {
      const errors = fieldErrors(response.problem, form.values, textOf);
      setAtField(errors !== undefined);
      if (errors !== undefined) form.reject(errors);
      return;
    }
    form.forget();
    const { data, meta } = response.data;
    if (meta?.client_secret !== undefined) keepSecret(data.id, meta.client_secret);
    route(`${root}applications/${data.id}/connect`, true);
    announce(t('admin.apps.new.created', { name: nameOf(data.attributes) }));
  };
  return (
    <section class="card section">
      <p>{text}</p>
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
