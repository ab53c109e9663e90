import type { VNode } from 'preact';
import { Notice } from '../../../src/browser/components/text.tsx';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { totalOf, useSessionsOverview } from './overview.ts';
import { AppMark, SessionCard } from './session-card.tsx';
import { SessionList, useListQuery } from './session-list.tsx';
import { appSubtitle, appTitle } from './session-text.ts';
import { AppSessionsList, type SessionsOverviewData } from './sessions.generated.ts';

/** Apps and chat clients that the user is signed in to, with a link to the browser sessions. */
export function AppSessions(): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const pathTo = usePathTo();
  const overview = useSessionsOverview();
  const browsers = totalOf(overview, 'browserSessions');
  const { variables, filter } = useListQuery();
  const sessions = usePageQuery(AppSessionsList, variables);
  return (
    <TabsPage tab="devices">
      <PageTitle title={t('account.sessions.title')} />
      <p>
        <a href={pathTo('sessions/browsers')}>
          {browsers === undefined
            ? t('account.browsers.title')
            : t('account.sessions.browsers_count', { count: browsers })}
        </a>
      </p>
      {(overview.data !== undefined || overview.problem !== undefined) && (
        <Loaded query={overview}>{(data) => <LimitNotice data={data} />}</Loaded>
      )}
      <h2>{t('account.sessions.apps')}</h2>
      <Loaded query={sessions}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <SessionList
              sessions={viewer.appSessions.nodes}
              info={viewer.appSessions.pageInfo}
              kind="appSessions"
              filter={filter}
              empty={t('account.sessions.none')}
            >
              {(session) => (
                <SessionCard
                  key={session.id}
                  session={session}
                  mark={<AppMark session={session} />}
                  title={appTitle(translations, session)}
                  subtitle={appSubtitle(session, appTitle(translations, session))}
                  facts={
                    session.deviceId !== null && (
                      <span>
                        {translations.rich('account.session.device', { id: <code>{session.deviceId}</code> })}
                      </span>
                    )
                  }
                />
              )}
            </SessionList>
          )
        }
      </Loaded>
    </TabsPage>
  );
}

const SHARE_OF_LIMIT = 0.8;

function LimitNotice({ data: { viewer, siteConfig } }: { data: SessionsOverviewData }): VNode | null {
  const { t } = useTranslations();
  const limit = siteConfig.sessionLimit?.softLimit;
  if (viewer.__typename !== 'User' || limit === undefined) return null;
  const count = viewer.appSessions.totalCount;
  if (count >= limit) return <Notice kind="danger">{t('account.sessions.at_limit', { count, limit })}</Notice>;
  if (count < limit * SHARE_OF_LIMIT) return null;
  return <Notice kind="info">{t('account.sessions.near_limit', { count, limit })}</Notice>;
}
