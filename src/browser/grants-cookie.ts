/**
 * Which grants were opened in this browser: authorization requests made here (oauth 7.2), and device grants whose user
 * code was entered here (oauth 10.3). A cookie lists them.
 */
import { epochSeconds } from '#platform/base/clock.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { AuthorizationGrantId, DeviceCodeGrantId } from '#vocabulary/ids.ts';

const MAX_GRANTS = 10;
const LIFETIME_SECONDS = 3600;
const GRANTS_COOKIE: Cookie = { name: 'grants', maxAgeSeconds: LIFETIME_SECONDS };

type GrantId = AuthorizationGrantId | DeviceCodeGrantId;

interface Entry {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** Adds a grant that was opened here. Keeps the ten most recent ones. */
export function bindGrant(context: Pick<RequestContext, 'cookies'>, id: GrantId, now: number): void {
  const others = liveEntries(context, now).filter((entry) => entry.id !== id);
  const entries = [{ id, at: epochSeconds(now) }, ...others].slice(0, MAX_GRANTS);
  context.cookies.set(GRANTS_COOKIE, entries);
}

export function isGrantBound(context: Pick<RequestContext, 'cookies'>, id: GrantId, now: number): boolean {
  return liveEntries(context, now).some((entry) => entry.id === id);
}

function liveEntries(context: Pick<RequestContext, 'cookies'>, now: number): { id: string; at: number }[] {
  const value = context.cookies.open(GRANTS_COOKIE);
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
