import type { VNode } from 'preact';

/** Field that `passkey.js` fills in where the device can create a passkey. Without scripts, there is no offer. */
export const PASSKEY_CAPABLE = 'passkey_capable';

/** Tells the service whether the device can create a passkey, if `passkey.js` runs. Without scripts: not. */
export function PasskeyCapable(): VNode {
  return <input type="hidden" name={PASSKEY_CAPABLE} value="" data-passkey-capable />;
}
