import type { VNode } from 'preact';
import { useTexts } from '../i18n/translations.ts';

/** A localized date and time, short enough for a table. `at`: in the format of the API. */
export function Time({ at }: { at: string }): VNode {
  const { language } = useTexts();
  return (
    <time dateTime={at}>{new Date(at).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })}</time>
  );
}
