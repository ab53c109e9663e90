/** A request of `/reauth` to reauthenticate the user at a provider, sealed into the URL of the provider's button. */
import type { KeyRing } from '#platform/base/sealing.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';

export const REAUTH_FIELD = 'reauth';

const LABEL = 'upstream-reauth';
/** As long as the page may stay open. */
const LIFETIME_MS = 3600_000;

export function sealReauthRequest(keys: KeyRing, session: BrowserSessionId, now: number): string {
  return keys.seal(LABEL, String(now), session).toString('base64url');
}

/** Tests whether `/reauth` created the text for this session within the last hour. */
export function isReauthRequest(
  keys: KeyRing,
  text: string | undefined,
  session: BrowserSessionId | undefined,
  now: number,
): boolean {
  if (text === undefined || session === undefined) return false;
  const opened = keys.open(LABEL, Buffer.from(text, 'base64url'), session);
  return opened !== undefined && now - Number(opened.toString()) < LIFETIME_MS;
}
