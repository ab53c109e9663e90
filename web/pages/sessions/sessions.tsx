import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { inactiveBefore } from './last-active.ts';
import { totalOf, useSessionsOverview } from './overview.ts';
import { type AnySession, SessionList, useAllSessions } from './session-list.tsx';
import type { SessionsOverviewData } from './sessions.generated.ts';

const FIRST_SIZE = 8;

/** Everywhere that the user is signed in: browsers, apps and chat clients. */
export function Sessions(): VNode {
  const { t } = useTranslations();
  const { url } = useLocation();
  const isFiltered = new URL(url, location.origin).searchParams.get('inactive') === 'true';
  const filter = useMemo(
    () => (isFiltered ? { lastActive: { before: inactiveBefore(new Date()) } } : null),
    [isFiltered],
  );
  const sessions = useAllSessions(FIRST_SIZE, filter);
  const overview = useSessionsOverview();
  return (
    <TabsPage tab="devices">
      <PageTitle title={t('account.sessions.title')} />
      <p>{t('account.sessions.text')}</p>
      {(overview.data !== undefined || overview.problem !== undefined) && (
        <Loaded query={overview}>{(data) => <LimitNotice data={data} />}</Loaded>
      )}
      <section class="section">
        <SessionList key={String(isFiltered)} sessions={sessions}>
          {(shown, hasMore) => (
            <>
              <ListTools
                isFiltered={isFiltered}
                isUseful={isFiltered || hasMore || shown.some(({ lastActiveAt }) => isInactive(lastActiveAt))}
                total={totalOf(overview)}
              />
              {shown.length === 0 && <p>{t('account.sessions.none_inactive')}</p>}
            </>
          )}
        </SessionList>
      </section>
    </TabsPage>
  );
}

function isInactive(lastActiveAt: AnySession['lastActiveAt']): boolean {
  return lastActiveAt !== null && lastActiveAt < inactiveBefore(new Date());
}

/** The number of sessions, and the filter if it would hide any. */
function ListTools({
  isFiltered,
  isUseful,
  total,
}: {
  isFiltered: boolean;
  isUseful: boolean;
  total: number | undefined;
}): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <div class="list-tools">
      <p class="meta" role="status">
        {total !== undefined && t('account.sessions.count', { total })}
      </p>
      {isUseful && (
        <a href={pathTo(isFiltered ? 'sessions' : 'sessions?inactive=true')}>
          {t(isFiltered ? 'account.sessions.all' : 'account.sessions.only_inactive')}
        </a>
      )}
    </div>
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
