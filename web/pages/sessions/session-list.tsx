import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type PageInfo, type Paging, pagingOf } from '../../api/paging.ts';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { PageLinks, useFirstPageInstead } from '../../components/page-links.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { inactiveBefore } from './last-active.ts';
import { totalOf, useSessionsOverview } from './overview.ts';

const PAGE_SIZE = 6;

/** Query of a session list, from the URL. */
export interface ListQuery {
  readonly variables: Paging & { readonly lastActive?: { readonly before: string } };
  /** Null: all sessions. */
  readonly filter: { readonly lastActive: { readonly before: string } } | null;
}

export function useListQuery(): ListQuery {
  const { url } = useLocation();
  return useMemo(() => {
    const query = new URL(url, location.origin).searchParams;
    const filter = query.get('inactive') === 'true' ? { lastActive: { before: inactiveBefore(new Date()) } } : null;
    return { filter, variables: { ...pagingOf(query, PAGE_SIZE), ...filter } };
  }, [url]);
}

const ALL = {};
const INACTIVE = { inactive: 'true' };

/** One page of sessions, newest first, with a filter above and page links below. */
export function SessionList<Session extends { readonly id: string }>({
  sessions,
  info,
  kind,
  filter: listFilter,
  empty,
  children,
}: {
  sessions: readonly Session[];
  info: PageInfo;
  kind: 'browserSessions' | 'appSessions';
  filter: ListQuery['filter'];
  /** Text for an empty list. */
  empty: string;
  children: (session: Session) => ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  const { path } = useLocation();
  const isFiltered = listFilter !== null;
  const filter = isFiltered ? INACTIVE : ALL;
  const total = totalOf(useSessionsOverview(), kind);
  const inactive = totalOf(useSessionsOverview(listFilter), kind);
  const isPastEnd = useFirstPageInstead(sessions.length, filter);
  useFocusAfterRemoval(sessions.length);
  return (
    <>
      <div class="list-tools">
        <p class="meta" role="status">
          {total !== undefined && !isFiltered && t('account.sessions.count', { total })}
          {total !== undefined &&
            isFiltered &&
            inactive !== undefined &&
            t('account.sessions.count_filtered', { count: inactive, total })}
        </p>
        <a class="filter" href={isFiltered ? path : `${path}?inactive=true`}>
          {isFiltered ? t('account.sessions.all') : t('account.sessions.only_inactive')}
        </a>
      </div>
      {sessions.length === 0 && !isPastEnd && <p>{isFiltered ? t('account.sessions.none_inactive') : empty}</p>}
      <ul class="sessions">{sessions.toReversed().map((session) => children(session))}</ul>
      <PageLinks info={info} size={PAGE_SIZE} filter={filter} />
    </>
  );
}
