import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../api/admin-client.ts';
import type { List } from '../api/documents.ts';
import { useTexts } from '../i18n/translations.ts';

/** The part of a list that a page shows, from the query of its URL. */
export function pageParameters(query: Readonly<Record<string, string>>, size: number) {
  const { after, before } = query;
  return before === undefined
    ? { 'page[first]': String(size), 'page[after]': after }
    : { 'page[last]': String(size), 'page[before]': before };
}

/** Links to the other parts of a list. `filters`: the parameters of the page's URL to keep. */
export function Pager({
  list: { data, links },
  filters,
  label,
}: {
  list: List<unknown>;
  filters: Readonly<Record<string, string | undefined>>;
  /** Accessible name. */
  label: string;
}): VNode | null {
  const { t } = useTexts();
  const { path } = useLocation();
  const [first, last] = [data[0], data.at(-1)];
  const hasPrevious = links.prev !== undefined && first !== undefined;
  const hasNext = links.next !== undefined && last !== undefined;
  if (!hasPrevious && !hasNext) return null;
  return (
    <nav class="pages" aria-label={label}>
      {hasPrevious && <a href={withParameters(path, { ...filters, before: first.id })}>{t('admin.pager.previous')}</a>}
      {hasNext && (
        <a class="pages-older" href={withParameters(path, { ...filters, after: last.id })}>
          {t('admin.pager.next')}
        </a>
      )}
    </nav>
  );
}
