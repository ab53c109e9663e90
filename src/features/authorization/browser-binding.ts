/**
 * Which authorization requests were made in this browser (oauth 7.2): only there may consent be skipped, so that
 * nobody gains a code by a link to a request of their own. A cookie lists them. Browsers withhold cookies from a form
 * that another site posts, so such a request is bound by the GET that follows it, which carries a ticket.
 */
import { epochSeconds } from '#platform/base/clock.ts';
import type { AuthorizationGrantId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

const MAX_GRANTS = 10;
const LIFETIME_SECONDS = 3600;
const TICKET_LABEL = 'authorization-bind';
const TICKET_LIFETIME_MS = 60_000;

interface Entry {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** Adds a request that was made here; the oldest beyond ten are dropped. */
export function bindGrant(context: Pick<RequestContext, 'cookies'>, id: AuthorizationGrantId, now: number): void {
  const others = liveEntries(context, now).filter((entry) => entry.id !== id);
  const entries = [{ id, at: epochSeconds(now) }, ...others].slice(0, MAX_GRANTS);
  context.cookies.set('grants', entries);
}

export function isGrantBound(context: Pick<RequestContext, 'cookies'>, id: AuthorizationGrantId, now: number): boolean {
  return liveEntries(context, now).some((entry) => entry.id === id);
}

function liveEntries(context: Pick<RequestContext, 'cookies'>, now: number): { id: string; at: number }[] {
  const value = context.cookies.open('grants');
  if (!Array.isArray(value)) return [];
  return value
    .filter(isEntry)
    .filter((entry) => epochSeconds(now) - entry.at < LIFETIME_SECONDS)
    .map(({ id, at }) => ({ id, at }));
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('at' in value)) return false;
  return typeof value.id === 'string' && typeof value.at === 'number';
}

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
