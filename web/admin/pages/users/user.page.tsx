import type { VNode } from 'preact';
import { useRoute } from 'preact-iso/router';
import type { Single, User, UserDetails } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { UserAccount } from './user-account.tsx';
import { UserActions } from './user-actions.tsx';
import { UserActivity } from './user-activity.tsx';
import { UserSessions } from './user-sessions.tsx';
import { UserStatus } from './user-status.tsx';
import { UserTokens } from './user-tokens.tsx';

const USERS = new Responses<Single<User>>();
const DETAILS = new Responses<Single<UserDetails>>();

/** One account: what is stored about it, and the actions on it. */
export function UserView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const user = useResource(USERS, `users/${encodeURIComponent(id)}`);
  const details = useResource(DETAILS, `users/${encodeURIComponent(id)}/details`);
  const tabs = [
    { name: 'account', title: t('admin.user.account') },
    { name: 'sessions', title: t('admin.user.sessions') },
    { name: 'apps', title: t('admin.user.apps') },
    { name: 'tokens', title: t('admin.user.tokens') },
    { name: 'activity', title: t('admin.user.activity') },
  ] as const;
  const shown = useTab(tabs);
  const reload = () => {
    user.reload();
    details.reload();
  };
  return (
    <>
      <p>
        <a href={`${root}users`}>{t('admin.user.back')}</a>
      </p>
      <PageTitle title={user.data?.data.attributes.username ?? t('admin.user.title')}>
        {user.data !== undefined && <UserStatus user={user.data.data.attributes} />}
      </PageTitle>
      <Loaded resource={user}>
        {({ data: { id: known, attributes } }) => (
          <>
            <UserActions id={known} user={attributes} details={details.data?.data.attributes} reload={reload} />
            <Tabs label={t('admin.user.parts')} tabs={tabs} shown={shown} />
            {shown === 'account' && <UserAccount id={known} user={attributes} details={details} />}
            {shown === 'sessions' && <UserSessions id={known} kinds={['browser', 'compat']} />}
            {shown === 'apps' && <UserSessions id={known} kinds={['oauth2']} />}
            {shown === 'tokens' && <UserTokens id={known} isUsable={attributes.deactivated_at === null} />}
            {shown === 'activity' && <UserActivity id={known} />}
          </>
        )}
      </Loaded>
    </>
  );
}
