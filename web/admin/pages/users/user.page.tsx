import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type {
  Count,
  List,
  Single,
  UpstreamLink,
  UpstreamProvider,
  User,
  UserEmail,
  UserGroups,
} from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { UserStatus } from './user-status.tsx';

const USERS = new Responses<Single<User>>();

/** One account: what is stored about it, and the actions on it. */
export function UserView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const user = useResource(USERS, `users/${encodeURIComponent(id)}`);
  return (
    <>
      <p>
        <a href={`${root}users`}>{t('admin.user.back')}</a>
      </p>
      <PageTitle title={user.data?.data.attributes.username ?? t('admin.user.title')} />
      <Loaded resource={user}>
        {({ data }) => (
          <>
            <Account id={data.id} user={data.attributes} reload={user.reload} />
            <Emails id={data.id} />
            <Groups id={data.id} />
            <Links id={data.id} />
            <Sessions id={data.id} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Account({ id, user, reload }: { id: string; user: User; reload: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const isLocked = user.locked_at !== null;
  const { username } = user;
  return (
    <section class="card section">
      <h2>{t('admin.user.account')}</h2>
      <FactList>
        <FactRow name={t('admin.users.username')}>
          <bdi>{username}</bdi>
        </FactRow>
        <FactRow name={t('admin.user.id')}>
          <code>{id}</code>
        </FactRow>
        <FactRow name={t('admin.users.status')}>
          <UserStatus user={user} />
        </FactRow>
        <FactRow name={t('admin.users.right')}>
          {t(user.admin ? 'admin.users.administrator' : 'admin.users.user')}
        </FactRow>
        <FactRow name={t('admin.users.created')}>
          <Time at={user.created_at} />
        </FactRow>
        {user.locked_at !== null && (
          <FactRow name={t('admin.user.locked_at')}>
            <Time at={user.locked_at} />
          </FactRow>
        )}
        {user.deactivated_at !== null && (
          <FactRow name={t('admin.user.deactivated_at')}>
            <Time at={user.deactivated_at} />
          </FactRow>
        )}
      </FactList>
      {user.deactivated_at === null && (
        <Button kind={isLocked ? 'secondary' : 'danger'} onClick={() => setAsking(true)}>
          {t(isLocked ? 'admin.user.unlock' : 'admin.user.lock')}
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={t(isLocked ? 'admin.user.unlock_title' : 'admin.user.lock_title', { username })}
          action={t(isLocked ? 'admin.user.unlock' : 'admin.user.lock')}
          kind={isLocked ? 'primary' : 'danger'}
          done={t(isLocked ? 'admin.user.unlocked' : 'admin.user.locked', { username })}
          onConfirm={() => client.post(`users/${id}/${isLocked ? 'unlock' : 'lock'}`)}
          onDone={reload}
          onClose={() => setAsking(false)}
        >
          {t(isLocked ? 'admin.user.unlock_text' : 'admin.user.lock_text')}
        </Confirm>
      )}
    </section>
  );
}

const EMAILS = new Responses<List<UserEmail>>();

function Emails({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const emails = useResource(
    EMAILS,
    withParameters('user-emails', { 'filter[user]': id, 'page[first]': '100', count: 'false' }),
  );
  return (
    <section class="card section">
      <h2>{t('admin.user.emails')}</h2>
      <Loaded resource={emails}>
        {({ data }) => (
          <TextList
            none={t('admin.user.no_emails')}
            items={data.map(({ attributes: { email, primary } }) => ({
              text: email,
              detail: primary && data.length > 1 ? t('admin.user.primary_email') : undefined,
            }))}
          />
        )}
      </Loaded>
    </section>
  );
}

const GROUPS = new Responses<Single<UserGroups>>();

function Groups({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const groups = useResource(GROUPS, `users/${id}/groups`);
  return (
    <section class="card section">
      <h2>{t('admin.user.groups')}</h2>
      <Loaded resource={groups}>
        {({ data: { attributes } }) => (
          <TextList
            none={t('admin.user.no_groups')}
            items={[
              ...attributes.groups.map((text) => ({ text, detail: undefined })),
              ...attributes.upstream.flatMap((source) =>
                source.groups.map((text) => ({ text, detail: t('admin.user.group_of_provider') })),
              ),
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}

const LINKS = new Responses<List<UpstreamLink>>();
const PROVIDERS = new Responses<List<UpstreamProvider>>();

function Links({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const links = useResource(
    LINKS,
    withParameters('upstream-oauth-links', { 'filter[user]': id, 'page[first]': '100', count: 'false' }),
  );
  const providers = useResource(
    PROVIDERS,
    withParameters('upstream-oauth-providers', { 'page[first]': '100', count: 'false' }),
  );
  const nameOf = (providerId: string): string => {
    const attributes = providers.data?.data.find((provider) => provider.id === providerId)?.attributes;
    return attributes?.human_name ?? attributes?.issuer ?? providerId;
  };
  return (
    <section class="card section">
      <h2>{t('admin.user.links')}</h2>
      <Loaded resource={links}>
        {({ data }) => (
          <TextList
            none={t('admin.user.no_links')}
            items={data.map(({ attributes: { provider_id, human_account_name, subject } }) => ({
              text: human_account_name ?? subject,
              detail: nameOf(provider_id),
            }))}
          />
        )}
      </Loaded>
    </section>
  );
}

const COUNTS = new Responses<Count>();

const KINDS = [
  { path: 'user-sessions', filter: 'filter[user]', title: 'admin.user.browser_sessions' },
  { path: 'oauth2-sessions', filter: 'filter[user]', title: 'admin.user.app_sessions' },
  { path: 'compat-sessions', filter: 'filter[user]', title: 'admin.user.chat_sessions' },
  { path: 'personal-sessions', filter: 'filter[actor_user]', title: 'admin.user.personal_sessions' },
] as const;

function Sessions({ id }: { id: string }): VNode {
  const { t } = useTexts();
  return (
    <section class="card section">
      <h2>{t('admin.user.sessions')}</h2>
      <FactList>
        {KINDS.map(({ path, filter, title }) => (
          <FactRow key={path} name={t(title)}>
            <SessionCount path={withParameters(path, { [filter]: id, 'filter[status]': 'active', count: 'only' })} />
          </FactRow>
        ))}
      </FactList>
    </section>
  );
}

function SessionCount({ path }: { path: string }): VNode {
  const { language } = useTexts();
  const count = useResource(COUNTS, path);
  return <Loaded resource={count}>{({ meta }) => <span>{meta.count.toLocaleString(language)}</span>}</Loaded>;
}

function TextList({
  items,
  none,
}: {
  items: readonly { readonly text: string; readonly detail: string | undefined }[];
  /** Shown instead of an empty list. */
  none: string;
}): VNode {
  if (items.length === 0) return <p class="meta">{none}</p>;
  return (
    <ul class="rows">
      {items.map(({ text, detail }) => (
        <li key={`${text} ${detail}`} class="row">
          <bdi>{text}</bdi>
          {detail !== undefined && <span class="meta">{detail}</span>}
        </li>
      ))}
    </ul>
  );
}
