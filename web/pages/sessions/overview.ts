import { type PageQuery, usePageQuery } from '../../api/page-query.ts';
import { useContentShown } from '../../frame/content-shown.ts';
import { SessionsOverview, type SessionsOverviewData, type SessionsOverviewVariables } from './sessions.generated.ts';

const ALL = {};

/**
 * Counts the user's sessions. Slow with many sessions, so the page shows its list first.
 * @param filter which sessions to count; null: sends no query
 */
export function useSessionsOverview(filter: SessionsOverviewVariables | null = ALL): PageQuery<SessionsOverviewData> {
  const isContentShown = useContentShown();
  return usePageQuery(SessionsOverview, filter ?? ALL, filter === null || !isContentShown);
}

/** Returns the total of one kind; undefined while loading. */
export function totalOf(
  { data }: PageQuery<SessionsOverviewData>,
  kind: 'browserSessions' | 'appSessions',
): number | undefined {
  return data?.viewer.__typename === 'User' ? data.viewer[kind].totalCount : undefined;
}
