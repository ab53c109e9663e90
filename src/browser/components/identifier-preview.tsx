import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';

/** Shows which identifier a typed username makes. Hidden until `pages.js` runs and something is typed. */
export function IdentifierPreview({
  translations,
  of,
  serverName,
}: {
  translations: Translations;
  /** Name of the input with the username. */
  of: string;
  serverName: string;
}): VNode {
  return (
    <p class="hint" hidden aria-live="polite" data-identifier-of={of} data-server-name={serverName}>
      {translations.rich('username.preview', { identifier: <bdi class="name" dir="ltr" /> })}
    </p>
  );
}
