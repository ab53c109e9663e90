import type { VNode } from 'preact';
import { useLocation, useRoute } from 'preact-iso/router';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { List, Resource, Single, UpstreamLink, UpstreamProvider } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CopyValue } from '../../components/copy-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded, ProblemNotice } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useAnnounce } from '../../frame/live.tsx';
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

const PROVIDERS = new Responses<Single<UpstreamProvider>>();
const LINKS = new Responses<List<UpstreamLink>>();

/** One sign-in provider: whether it works, and who is linked with it. */
export function ProviderView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const provider = useResource(PROVIDERS, `upstream-oauth-providers/${encodeURIComponent(id)}`);
  const title =
    provider.data === undefined ? t('admin.providers.one') : providerName(id, provider.data.data.attributes);
  return (
    <>
      <p>
        <a href={`${root}providers`}>{t('admin.providers.back')}</a>
      </p>
      <PageTitle title={title} />
      <Loaded resource={provider}>
        {({ data: { attributes } }) => (
          <>
            <State id={id} provider={attributes} reload={provider.reload} />
            <Links id={id} provider={attributes} />
          </>
        )}
      </Loaded>
    </>
  );
}

function State({ id, provider, reload }: { id: string; provider: UpstreamProvider; reload: () => void }): VNode {
  const { t } = useTexts();
  const { created_at, discovery, issuer, keys, last_error, last_success_at, linked_users, state } = provider;
  const isOff = state === 'disabled' || state === 'removed';
  return (
    <section class="card section">
      <FactList>
        <FactRow name={t('admin.providers.state')}>
          <ProviderState state={state} />
        </FactRow>
        {issuer !== null && (
          <FactRow name={t('admin.providers.issuer')}>
            <CopyValue name={t('admin.providers.issuer')} value={issuer} />
          </FactRow>
        )}
        {discovery.url !== null && (
          <FactRow name={t('admin.providers.url')}>
            <code dir="ltr" class="break-all">
              {discovery.url}
            </code>
          </FactRow>
        )}
        {!isOff && (
          <>
            <FactRow name={t('admin.providers.discovery_fetched')}>
              <Discovery discovery={discovery} />
            </FactRow>
            <FactRow name={t('admin.providers.keys_fetched')}>
              <Keys keys={keys} />
            </FactRow>
          </>
        )}
        <FactRow name={t('admin.providers.last_success')}>
          <TimeOrNever at={last_success_at} />
        </FactRow>
        <FactRow name={t('admin.providers.last_error')}>
          <LastError error={last_error} />
        </FactRow>
        <FactRow name={t('admin.providers.linked')}>
          <LinkedUsers count={linked_users} />
        </FactRow>
        <FactRow name={t('admin.providers.created')}>
          <Time at={created_at} />
        </FactRow>
        <FactRow name={t('admin.user.id')}>
          <code>{id}</code>
        </FactRow>
      </FactList>
      {isOff ? (
        <Notice kind="info">
          <p>{t(state === 'disabled' ? 'admin.providers.disabled_text' : 'admin.providers.removed_text')}</p>
        </Notice>
      ) : (
        <Check id={id} name={providerName(id, provider)} reload={reload} />
      )}
    </section>
  );
}

function Check({ id, name, reload }: { id: string; name: string; reload: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const run = async (): Promise<void> => {
    const path = `upstream-oauth-providers/${encodeURIComponent(id)}/check`;
    const response = await send(() => client.post<Single<UpstreamProvider>>(path));
    if (!response.ok) return;
    reload();
    const isFailing = response.data.data.attributes.state === 'failing';
    announce(t(isFailing ? 'admin.providers.check_failed' : 'admin.providers.check_done', { name }));
  };
  return (
    <>
      <p class="meta">{t('admin.providers.check_text')}</p>
      <div class="actions">
        <Button kind="secondary" isPending={isPending} onClick={() => void run()}>
          {t('admin.providers.check')}
        </Button>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} />}
    </>
  );
}

function Links({ id, provider }: { id: string; provider: UpstreamProvider }): VNode {
  const { t } = useTexts();
  const { query } = useLocation();
  const links = useResource(
    LINKS,
    withParameters('upstream-oauth-links', {
      ...{ 'filter[provider]': id, 'filter[linked]': 'true' },
      ...pageParameters(query, PAGE_SIZE),
      count: 'false',
    }),
    true,
  );
  return (
    <section class="card section">
      <h2>{t('admin.providers.linked')}</h2>
      <Loaded resource={links}>
        {(list) =>
          list.data.length === 0 ? (
            <p class="meta">{t('admin.providers.no_users', { name: providerName(id, provider) })}</p>
          ) : (
            <>
              <LinkTable links={list.data} isLoading={links.isLoading} />
              <Pager list={list} filters={{}} label={t('admin.providers.link_pages')} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function LinkTable({ links, isLoading }: { links: readonly Resource<UpstreamLink>[]; isLoading: boolean }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.providers.linked')}
      rows={links}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.users.username'),
          cell: ({ attributes: { user_id, username } }) => (
            <a href={`${root}users/${user_id}`} class="row-link break-all">
              <bdi>{username ?? user_id}</bdi>
            </a>
          ),
        },
        {
          title: t('admin.providers.identity'),
          cell: ({ attributes: { human_account_name: name, subject } }) => (
            <span>
              {name !== null && <bdi class="break-all">{name}</bdi>}
              <bdi class="reason meta break-all">{subject}</bdi>
            </span>
          ),
        },
        { title: t('admin.providers.since'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
      ]}
    />
  );
}
