import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { useTexts } from '../i18n/translations.ts';

/** The selected rows of a table. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly change: (ids: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

/** @param shown identifies what is listed: another page or filter starts without a selection */
export function useSelection(shown: string): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(NONE);
  useEffect(() => setIds(NONE), [shown]);
  return { ids, change: setIds, clear: () => setIds(NONE) };
}

const NONE: ReadonlySet<string> = new Set();

/** Says how many rows are selected, with the actions on them. */
export function BulkBar({
  selection: { ids, clear },
  children,
}: {
  selection: Selection;
  /** Buttons. */
  children: ComponentChildren;
}): VNode {
  const { t } = useTexts();
  return (
    <fieldset class="bulk-bar" aria-label={t('admin.selection.actions')}>
      <span role="status">{ids.size > 0 && t('admin.selection.count', { count: ids.size })}</span>
      {ids.size > 0 && (
        <>
          {children}
          <Button kind="quiet" onClick={clear}>
            {t('admin.selection.clear')}
          </Button>
        </>
      )}
    </fieldset>
  );
}
