import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';

/** Shows the identifier that an entered username results in. Hidden until `pages.js` runs and the field has a value. */
export function IdentifierPreview({
  translations,
  of,
  serverName,
}: {
  translations: Translations;
  /** Name of the username input. */
  of: string;
  serverName: string;
}): VNode {
  return (
    <p class="hint" hidden aria-live="polite" data-identifier-of={of} data-server-name={serverName}>
      {translations.rich('username.preview', { identifier: <bdi class="name" dir="ltr" /> })}
    </p>
  );
}
