import type { VNode } from 'preact';
import { usePageQuery } from '../../api/page-query.ts';
import { Moment } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { useSessionsOverview } from '../sessions/overview.ts';
import { SessionList, useAllSessions } from '../sessions/session-list.tsx';
import { EndAllSessions } from './end-all-sessions.tsx';
import { OneTimeCodes } from './one-time-codes.tsx';
import { Passkeys } from './passkeys.tsx';
import { SecurityOverview, type SecurityOverviewData } from './security.generated.ts';

const NONE = {};

/** Sign-in methods of the account, and the way to sign out everywhere. */
export function Security(): VNode {
  const { t } = useTranslations();
  const query = usePageQuery(SecurityOverview, NONE);
  return (
    <TabsPage tab="security">
      <PageTitle title={t('account.security.title')} />
      <Loaded query={query}>
        {({ viewer, siteConfig }) =>
          viewer.__typename === 'User' && (
            <>
              {siteConfig.passwordLoginEnabled && (
                <Password user={viewer} mayChange={siteConfig.passwordChangeAllowed} />
              )}
              <Passkeys />
              <OneTimeCodes user={viewer} isAllowed={siteConfig.totpEnabled} />
            </>
          )
        }
      </Loaded>
      {query.data !== undefined && <SignedIn />}
    </TabsPage>
  );
}

const RECENT = 3;

/** Where the user is signed in: this browser and the newest sessions, and how to sign out everywhere. */
function SignedIn(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const sessions = useAllSessions(RECENT, null);
  const overview = useSessionsOverview();
  return (
    <section class="section">
      <h2>{t('account.sessions.title')}</h2>
      <SessionList sessions={sessions} limit={RECENT} />
      <p>
        <a href={pathTo('sessions')}>{t('account.security.all_sessions')}</a>
      </p>
      <Loaded query={overview}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <EndAllSessions browsers={viewer.browserSessions.totalCount} applications={viewer.appSessions.totalCount} />
          )
        }
      </Loaded>
    </section>
  );
}

function Password({
  user: { hasPassword, securityEvents },
  mayChange,
}: {
  user: Extract<SecurityOverviewData['viewer'], { __typename: 'User' }>;
  mayChange: boolean;
}): VNode {
  const { t, rich } = useTranslations();
  const pathTo = usePathTo();
  // Known while the event is retained.
  const changed = securityEvents.nodes.at(-1);
  return (
    <section class="section">
      <h2>{t('account.profile.password')}</h2>
      {!hasPassword && <p>{t('account.security.password_none')}</p>}
      {hasPassword && changed !== undefined && (
        <p>{rich('account.security.password_changed', { when: <Moment at={changed.createdAt} /> })}</p>
      )}
      {hasPassword && !mayChange && <p>{t('account.password.disabled')}</p>}
      {hasPassword && mayChange && (
        <a class="button button-secondary" href={pathTo('password/change')}>
          {t('account.profile.change_password')}
        </a>
      )}
    </section>
  );
}
