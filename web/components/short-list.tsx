import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';
import { useFocusAfterRemoval } from './focus-after-removal.ts';

const PAGE_SIZE = 6;

/** The requested part of a list. Lists are ordered from old to new and displayed in reverse. */
export type Part =
  | { readonly last: number; readonly before?: string }
  | { readonly first: number; readonly after: string };

export const NEWEST: Part = { last: PAGE_SIZE };

/** One of several lists on a page, six items at a time. Its position is not in the URL. Newest first. */
export function ShortList<Item extends { readonly id: string }>({
  list: {
    nodes,
    pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor },
  },
  kind,
  empty,
  pages,
  onPart,
  children,
}: {
  list: {
    readonly nodes: readonly Item[];
    readonly pageInfo: {
      readonly hasNextPage: boolean;
      readonly hasPreviousPage: boolean;
      readonly startCursor: string | null;
      readonly endCursor: string | null;
    };
  };
  /** CSS class of the list. */
  kind: 'rows' | 'sessions';
  /** Text for an empty list. */
  empty: string;
  /** Accessible name of the links to other parts. */
  pages: string;
  onPart: (part: Part) => void;
  children: (item: Item) => ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  useFocusAfterRemoval(nodes.length);
  // The last item of this part was removed.
  const isPastEnd = nodes.length === 0 && (hasNextPage || hasPreviousPage);
  useEffect(() => {
    if (isPastEnd) onPart(NEWEST);
  }, [isPastEnd, onPart]);
  return (
    <>
      {nodes.length === 0 && !isPastEnd && <p>{empty}</p>}
      <ul class={kind}>{nodes.toReversed().map((item) => children(item))}</ul>
      {(hasNextPage || hasPreviousPage) && (
        <nav class="pages" aria-label={pages}>
          {hasNextPage && endCursor !== null && (
            <Button kind="quiet" onClick={() => onPart({ first: PAGE_SIZE, after: endCursor })}>
              {t('account.sessions.newer')}
            </Button>
          )}
          {hasPreviousPage && startCursor !== null && (
            <span class="pages-older">
              <Button kind="quiet" onClick={() => onPart({ last: PAGE_SIZE, before: startCursor })}>
                {t('account.sessions.older')}
              </Button>
            </span>
          )}
        </nav>
      )}
    </>
  );
}
