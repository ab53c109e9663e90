import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../api/admin-client.ts';
import { useTexts } from '../i18n/translations.ts';

/** Links of a list with the newest first. `before`: where the next page begins, a parameter of the page's URL. */
export function OlderPager({
  before,
  filters,
  label,
  title,
}: {
  /** Undefined on the last page. */
  before: string | undefined;
  /** The parameters of the page's URL to keep. */
  filters: Readonly<Record<string, string | undefined>>;
  /** Accessible name. */
  label: string;
  /** Text of the link to the next page. */
  title: string;
}): VNode | null {
  const { t } = useTexts();
  const { path, query } = useLocation();
  const isFirst = query['before'] === undefined;
  if (isFirst && before === undefined) return null;
  return (
    <nav class="pages" aria-label={label}>
      {!isFirst && <a href={withParameters(path, filters)}>{t('admin.pager.newest')}</a>}
      {before !== undefined && (
        <a class="pages-older" href={withParameters(path, { ...filters, before })}>
          {title}
        </a>
      )}
    </nav>
  );
}
