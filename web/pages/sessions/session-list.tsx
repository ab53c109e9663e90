import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type MergedWindow, useMergedWindow } from '../../api/merged-lists.ts';
import { type PageQuery, together, usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { Loaded } from '../../components/states.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { AppSessionItem, BrowserSessionItem } from './session-card.tsx';
import {
  type AppSessionCard,
  AppSessionsList,
  type AppSessionsListData,
  type BrowserSessionCard,
  BrowserSessionList,
  type BrowserSessionListData,
} from './sessions.generated.ts';

export type AnySession = AppSessionCard | BrowserSessionCard;

/** Which sessions to list. Null: all. */
export type SessionFilter = { readonly lastActive: { readonly before: string } } | null;

/** Sessions in browsers and apps as one list. */
export interface AllSessions {
  readonly browsers: PageQuery<BrowserSessionListData>;
  readonly apps: PageQuery<AppSessionsListData>;
  readonly window: MergedWindow;
}

/** @param size sessions of each kind to request first */
export function useAllSessions(size: number, filter: SessionFilter): AllSessions {
  const window = useMergedWindow(size);
  const [ofBrowsers, ofApps] = window.parts;
  const browsers = usePageQuery(
    BrowserSessionList,
    useMemo(() => ({ ...ofBrowsers, ...filter }), [ofBrowsers, filter]),
  );
  const apps = usePageQuery(
    AppSessionsList,
    useMemo(() => ({ ...ofApps, ...filter }), [ofApps, filter]),
  );
  return { browsers, apps, window };
}

/** Shows both queries as one list, newest first. This browser's session is at the top. */
export function SessionList({
  sessions: { browsers, apps, window },
  limit,
  children,
}: {
  sessions: AllSessions;
  /** Shows at most this many, without a button for more. */
  limit?: number;
  /** Returns what is above the list. */
  children?: (shown: readonly AnySession[], hasMore: boolean) => VNode | null;
}): VNode {
  return (
    <Loaded query={together(browsers, apps)}>
      {({ one: { viewer: ofBrowsers }, other: { viewer: ofApps } }) => {
        if (ofBrowsers.__typename !== 'User' || ofApps.__typename !== 'User') return null;
        const { items, more } = window.merge<AnySession>(ofBrowsers.browserSessions, ofApps.appSessions);
        const shown = [...items.filter(isCurrent), ...items.filter((session) => !isCurrent(session))];
        return (
          <>
            {children?.(shown, more !== undefined)}
            <Items
              shown={shown.slice(0, limit)}
              more={limit === undefined ? more : undefined}
              isMoved={window.isMoved}
              onReset={window.reset}
            />
          </>
        );
      }}
    </Loaded>
  );
}

function isCurrent(session: AnySession): boolean {
  return session.__typename === 'BrowserSession' && session.isCurrent;
}

function Items({
  shown,
  more,
  isMoved,
  onReset,
}: {
  shown: readonly AnySession[];
  more: (() => void) | undefined;
  isMoved: boolean;
  onReset: () => void;
}): VNode {
  const { t } = useTranslations();
  useFocusAfterRemoval(shown.length);
  // The last session of older ones was removed.
  const isPastEnd = isMoved && shown.length === 0;
  useEffect(() => {
    if (isPastEnd) onReset();
  }, [isPastEnd]);
  return (
    <>
      <ul class="sessions">
        {shown.map((session) =>
          session.__typename === 'BrowserSession' ? (
            <BrowserSessionItem key={session.id} session={session} />
          ) : (
            <AppSessionItem key={session.id} session={session} />
          ),
        )}
      </ul>
      {(more !== undefined || isMoved) && (
        <div class="pages">
          {isMoved && (
            <Button kind="secondary" onClick={onReset}>
              {t('account.sessions.newest')}
            </Button>
          )}
          {more !== undefined && (
            <Button kind="secondary" onClick={more}>
              {t('account.sessions.more')}
            </Button>
          )}
        </div>
      )}
    </>
  );
}
