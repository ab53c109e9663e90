import type { VNode } from 'preact';
import { LinesField } from '../../components/choice-fields.tsx';
import { useTexts } from '../i18n/translations.ts';

/** URIs, one on each line. */
export function UriList({
  hint,
  ...field
}: {
  name: string;
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  error?: string | undefined;
}): VNode {
  const { t } = useTexts();
  const oneEach = t('admin.uris.hint');
  return <LinesField {...field} hint={hint === undefined ? oneEach : `${hint} ${oneEach}`} />;
}

/** Returns the lines that are not empty. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
