import { type PageQuery, usePageQuery } from '../../api/page-query.ts';
import { useContentShown } from '../../frame/content-shown.ts';
import { SessionsOverview, type SessionsOverviewData } from './sessions.generated.ts';

const ALL = {};

/** Counts the user's sessions. Slow with many sessions, so the page shows its list first. */
export function useSessionsOverview(): PageQuery<SessionsOverviewData> {
  const isContentShown = useContentShown();
  return usePageQuery(SessionsOverview, ALL, !isContentShown);
}

/** Returns the number of all sessions; undefined while loading. */
export function totalOf({ data }: PageQuery<SessionsOverviewData>): number | undefined {
  if (data?.viewer.__typename !== 'User') return undefined;
  return data.viewer.browserSessions.totalCount + data.viewer.appSessions.totalCount;
}
