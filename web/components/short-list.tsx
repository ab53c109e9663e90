import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';
import { useFocusAfterRemoval } from './focus-after-removal.ts';

const PAGE_SIZE = 6;

/** Which part of a list is asked for. Lists run from old to new and are shown the other way round. */
export type Part =
  | { readonly last: number; readonly before?: string }
  | { readonly first: number; readonly after: string };

export const NEWEST: Part = { last: PAGE_SIZE };

/** One of several lists on a page, six at a time: its part is not in the address. Newest first. */
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
  /** Class of the list. */
  kind: 'rows' | 'sessions';
  /** What is said of a list that has none. */
  empty: string;
  /** Name of the ways to the other parts. */
  pages: string;
  onPart: (part: Part) => void;
  children: (item: Item) => ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  useFocusAfterRemoval(nodes.length);
  // The last one of a part was removed.
  const isLeftOver = nodes.length === 0 && (hasNextPage || hasPreviousPage);
  useEffect(() => {
    if (isLeftOver) onPart(NEWEST);
  }, [isLeftOver, onPart]);
  return (
    <>
      {nodes.length === 0 && !isLeftOver && <p>{empty}</p>}
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
