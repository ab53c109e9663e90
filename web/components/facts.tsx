import type { ComponentChildren, VNode } from 'preact';
import { useTranslations } from '../i18n/translations.ts';

/** A list of names and values. */
export function FactList({ children }: { children: ComponentChildren }): VNode {
  return <dl class="fact-list">{children}</dl>;
}

export function FactRow({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <dt class="meta">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A localized date and time. `at`: in the format of the API. */
export function Moment({ at }: { at: string }): VNode {
  const { language } = useTranslations();
  return <time dateTime={at}>{new Date(at).toLocaleString(language, { dateStyle: 'long', timeStyle: 'short' })}</time>;
}
