/**
 * Tracks which authorization requests were made in this browser (oauth 7.2). Only for those may consent be skipped.
 * Otherwise an attacker could obtain a code with a link to a request of their own. A cookie lists the requests
 * (`browser/grants-cookie.ts`). Browsers do not send cookies with a form posted by another site. Such a request is
 * bound by the GET that follows it, which carries a ticket.
 */
import type { KeyRing } from '#platform/base/sealing.ts';
import type { AuthorizationGrantId } from '#vocabulary/ids.ts';

const TICKET_LABEL = 'authorization-bind';
const TICKET_LIFETIME_MS = 60_000;

/**
 * Creates the ticket that proves that a browser has just posted this authorization request.
 * @param now milliseconds since the epoch
 */
export function sealBindTicket(keys: KeyRing, id: AuthorizationGrantId, now: number): string {
  return keys.seal(TICKET_LABEL, String(now + TICKET_LIFETIME_MS), id).toString('base64url');
}

/** Tests whether the ticket was sealed for this grant within the last minute. */
export function opensBindTicket(keys: KeyRing, id: AuthorizationGrantId, ticket: string, now: number): boolean {
  const opened = keys.open(TICKET_LABEL, Buffer.from(ticket, 'base64url'), id);
  return opened !== undefined && now < Number(opened.toString());
}
