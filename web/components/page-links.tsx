import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { isFirstPage, neighbours, type PageInfo } from '../api/paging.ts';
import { useTranslations } from '../i18n/translations.ts';

/** Links to the other pages of a list. `filter`: query parameters to keep. */
export function PageLinks({
  info,
  size,
  filter = {},
}: {
  info: PageInfo;
  size: number;
  filter?: Readonly<Record<string, string>>;
}): VNode | null {
  const { t } = useTranslations();
  const { path } = useLocation();
  const { newer, older } = neighbours(info, size, filter);
  if (newer === undefined && older === undefined) return null;
  return (
    <nav class="pages" aria-label={t('account.sessions.pages')}>
      {newer !== undefined && <a href={path + newer}>{t('account.sessions.newer')}</a>}
      {older !== undefined && (
        <a class="pages-older" href={path + older}>
          {t('account.sessions.older')}
        </a>
      )}
    </nav>
  );
}

/**
 * Navigates to the first page of a list if this page has become empty.
 * @param rows number of rows on this page
 * @param filter query parameters to keep
 * @returns true if it navigates away
 */
export function useFirstPageInstead(rows: number, filter: Readonly<Record<string, string>>): boolean {
  const { path, url, route } = useLocation();
  const isPastEnd = rows === 0 && !isFirstPage(new URL(url, location.origin).searchParams);
  const query = new URLSearchParams(filter).toString();
  useEffect(() => {
    if (isPastEnd) route(query === '' ? path : `${path}?${query}`, true);
  }, [isPastEnd, path, query, route]);
  return isPastEnd;
}
