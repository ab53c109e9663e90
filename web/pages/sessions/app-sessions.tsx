import type { VNode } from 'preact';
import { Notice } from '../../../src/browser/components/text.tsx';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SessionCard } from './session-card.tsx';
import { SessionList, useListQuery } from './session-list.tsx';
import { appIcon, appSubtitle, appTitle } from './session-text.ts';
import { AppSessionsList, SessionsOverview, type SessionsOverviewData } from './sessions.generated.ts';

const NONE = {};

/** The applications and chat clients that a person is signed in to, with the way to their browsers. */
export function AppSessions(): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const overview = usePageQuery(SessionsOverview, NONE);
  const { variables, isFiltered } = useListQuery();
  const sessions = usePageQuery(AppSessionsList, variables);
  return (
    <TabsPage tab="devices">
      <PageTitle title={t('account.sessions.title')} />
      <Loaded query={overview}>{(data) => <Overview data={data} />}</Loaded>
      <h2>{t('account.sessions.apps')}</h2>
      <Loaded query={sessions}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <SessionList
              sessions={viewer.appSessions.nodes}
              list={viewer.appSessions}
              total={totalOf(overview.data) ?? viewer.appSessions.totalCount}
              isFiltered={isFiltered}
              empty={t('account.sessions.none')}
            >
              {(session) => (
                <SessionCard
                  key={session.id}
                  session={session}
                  icon={appIcon(session)}
                  title={appTitle(translations, session)}
                  subtitle={appSubtitle(session)}
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

function totalOf(data: SessionsOverviewData | undefined): number | undefined {
  return data?.viewer.__typename === 'User' ? data.viewer.appSessions.totalCount : undefined;
}

const SHARE_OF_LIMIT = 0.8;

function Overview({ data: { viewer, siteConfig } }: { data: SessionsOverviewData }): VNode | null {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  if (viewer.__typename !== 'User') return null;
  const count = viewer.appSessions.totalCount;
  const limit = siteConfig.sessionLimit?.softLimit;
  return (
    <>
      <p>
        <a href={pathTo('sessions/browsers')}>
          {t('account.sessions.browsers_count', { count: viewer.browserSessions.totalCount })}
        </a>
      </p>
      {limit !== undefined && count >= limit && (
        <Notice kind="danger">{t('account.sessions.at_limit', { count, limit })}</Notice>
      )}
      {limit !== undefined && count < limit && count >= limit * SHARE_OF_LIMIT && (
        <Notice kind="info">{t('account.sessions.near_limit', { count, limit })}</Notice>
      )}
    </>
  );
}
