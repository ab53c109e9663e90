import { type PageQuery, usePageQuery } from '../../api/page-query.ts';
import { useContentShown } from '../../frame/content-shown.ts';
import { SessionsOverview, type SessionsOverviewData, type SessionsOverviewVariables } from './sessions.generated.ts';

const ALL = {};

/**
 * How many sessions a person has. To count them takes longer the more there are, so the page shows its list first.
 * @param filter which of them; null: nothing is asked for
 */
export function useSessionsOverview(filter: SessionsOverviewVariables | null = ALL): PageQuery<SessionsOverviewData> {
  const isContentShown = useContentShown();
  return usePageQuery(SessionsOverview, filter ?? ALL, filter === null || !isContentShown);
}

/** How many there are of either kind; undefined until it is known. */
export function totalOf(
  { data }: PageQuery<SessionsOverviewData>,
  kind: 'browserSessions' | 'appSessions',
): number | undefined {
  return data?.viewer.__typename === 'User' ? data.viewer[kind].totalCount : undefined;
}
