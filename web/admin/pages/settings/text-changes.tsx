import type { VNode } from 'preact';
import { useTexts } from '../../i18n/translations.ts';
import { lineChanges, withContext } from './line-changes.ts';

const MARKS = { same: ' ', removed: '−', added: '+' } as const;

/** What differs between two texts, line by line. Not by color alone: each line has a mark. */
export function TextChanges({ before, after }: { before: string; after: string }): VNode {
  const { t } = useTexts();
  if (before === after) return <p>{t('admin.policy.no_changes')}</p>;
  return (
    <pre class="text-block text-changes" dir="ltr">
      {withContext(lineChanges(before, after)).map((change, index) => {
        if (change === undefined)
          return (
            <span key={String(index)} class="meta">
              {'  …\n'}
            </span>
          );
        const text = `${MARKS[change.kind]} ${change.text}\n`;
        if (change.kind === 'removed') return <del key={String(index)}>{text}</del>;
        return change.kind === 'added' ? (
          <ins key={String(index)}>{text}</ins>
        ) : (
          <span key={String(index)}>{text}</span>
        );
      })}
    </pre>
  );
}
