import type { AuthorizationGrantId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';

const LABEL = 'authorization-bind';
const LIFETIME_MS = 60_000;

/**
 * Proof that a browser has just posted this authorization request. Browsers withhold cookies from a post that comes
 * from another site, so the cookie is changed by the GET that the post leads to, which carries this (oauth 7.2).
 * @param now milliseconds since the epoch
 */
export function sealBindTicket(keys: KeyRing, id: AuthorizationGrantId, now: number): string {
  return keys.seal(LABEL, String(now + LIFETIME_MS), id).toString('base64url');
}

/** Whether the ticket was sealed for this grant within the last minute. */
export function opensBindTicket(keys: KeyRing, id: AuthorizationGrantId, ticket: string, now: number): boolean {
  const opened = keys.open(LABEL, Buffer.from(ticket, 'base64url'), id);
  return opened !== undefined && now < Number(opened.toString());
}
