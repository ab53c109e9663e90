/**
 * Which authorization requests were made in this browser (oauth 7.2): only there may consent be skipped, so that
 * nobody gains a code by a link to a request of their own. A cookie lists them (`browser/grants-cookie.ts`). Browsers
 * withhold cookies from a form that another site posts, so such a request is bound by the GET that follows it, which
 * carries a ticket.
 */
import type { AuthorizationGrantId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';

const TICKET_LABEL = 'authorization-bind';
const TICKET_LIFETIME_MS = 60_000;

/**
 * Proof that a browser has just posted this authorization request.
 * @param now milliseconds since the epoch
 */
export function sealBindTicket(keys: KeyRing, id: AuthorizationGrantId, now: number): string {
  return keys.seal(TICKET_LABEL, String(now + TICKET_LIFETIME_MS), id).toString('base64url');
}

/** Whether the ticket was sealed for this grant within the last minute. */
export function opensBindTicket(keys: KeyRing, id: AuthorizationGrantId, ticket: string, now: number): boolean {
  const opened = keys.open(TICKET_LABEL, Buffer.from(ticket, 'base64url'), id);
  return opened !== undefined && now < Number(opened.toString());
}
