import type { VNode } from 'preact';
import type { Group } from '../../api/documents.ts';
import { useTexts } from '../../i18n/translations.ts';

/** Where a group comes from, and what is changing in the background. */
export function GroupSource({ group: { external, pending } }: { group: Group }): VNode {
  const { t } = useTexts();
  return (
    <span class="actions">
      <span>{t(external ? 'admin.groups.external' : 'admin.groups.own')}</span>
      {pending !== null && (
        <span class="badge">{t(pending === 'renaming' ? 'admin.groups.renaming' : 'admin.groups.deleting')}</span>
      )}
    </span>
  );
}

/** Counting stops at this number. */
const MAX_COUNTED = 1000;

export function MemberCount({ count }: { count: number }): VNode {
  const { language } = useTexts();
  const text = count.toLocaleString(language);
  return <span>{count < MAX_COUNTED ? text : `${text}+`}</span>;
}
