import type { VNode } from 'preact';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { DeviceIcon, SessionCard } from './session-card.tsx';
import { SessionList, useListQuery } from './session-list.tsx';
import { browserSubtitle, browserTitle, sessionIcon } from './session-text.ts';
import { BrowserSessionList } from './sessions.generated.ts';

/** Browsers that the user is signed in with. */
export function BrowserSessions(): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const pathTo = usePathTo();
  const { variables, filter } = useListQuery();
  const query = usePageQuery(BrowserSessionList, variables);
  return (
    <TabsPage tab="devices">
      <p>
        <a href={pathTo('sessions')}>{t('account.sessions.back')}</a>
      </p>
      <PageTitle title={t('account.browsers.title')} />
      <Loaded query={query}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <SessionList
              sessions={viewer.browserSessions.nodes}
              info={viewer.browserSessions.pageInfo}
              kind="browserSessions"
              filter={filter}
              empty={t('account.browsers.none')}
            >
              {(session) => (
                <SessionCard
                  key={session.id}
                  session={session}
                  mark={<DeviceIcon icon={sessionIcon(session.userAgent)} />}
                  title={browserTitle(translations, session)}
                  subtitle={browserSubtitle(translations, session.userAgent)}
                />
              )}
            </SessionList>
          )
        }
      </Loaded>
    </TabsPage>
  );
}
