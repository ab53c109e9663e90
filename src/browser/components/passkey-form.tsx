import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { Button, type ButtonKind } from './buttons.tsx';
import { HiddenFields } from './form.tsx';
import { Icon } from './icon.tsx';

export interface ShownPasskey {
  /** Target of the browser's response. */
  readonly path: string;
  /** See `Urls.passkeyOptions`. */
  readonly optionsPath: string;
  /** Undefined if another form of the page has it. */
  readonly csrf: string | undefined;
}

/**
 * A button that asks the browser for a passkey. Hidden until `passkey.js` runs on a page with `hasPasskey`, in a
 * browser that supports passkeys.
 */
export function PasskeyForm({
  translations,
  passkey,
  kind = 'secondary',
  fields = [],
  isOffered = false,
  isAlternative = false,
}: {
  translations: Translations;
  passkey: ShownPasskey;
  kind?: ButtonKind;
  fields?: readonly (readonly [name: string, value: string])[];
  /** Whether the browser offers passkeys in the username field. */
  isOffered?: boolean;
  /** The button follows another form. */
  isAlternative?: boolean;
}): VNode {
  return (
    <form
      class="form passkey"
      method="post"
      action={passkey.path}
      hidden
      data-passkey-options={passkey.optionsPath}
      data-passkey-offered={isOffered || undefined}
    >
      <HiddenFields
        fields={[
          ...(passkey.csrf === undefined ? [] : [['csrf', passkey.csrf] as const]),
          ...fields,
          ['credential', ''],
        ]}
      />
      {isAlternative && <p class="or">{translations.t('upstream.or')}</p>}
      <Button kind={kind}>
        <Icon name="key" />
        <span>{translations.t('passkey.use')}</span>
      </Button>
      <p class="field-error" role="alert" hidden data-passkey-failed>
        {translations.t('passkey.unavailable')}
      </p>
    </form>
  );
}
