import type { User } from '#domain/accounts/user.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { equalDigests } from '#platform/base/secret.ts';
import type { Viewer } from './browser-session.ts';
import type { SessionCookie } from './session-key.ts';
import type { ViewerRow } from './viewer-row.ts';

/** How long a session may last; undefined: no such limit. */
export interface SessionLimits {
  /** Seconds since its last activity. */
  readonly idleSeconds: number | undefined;
  /** Seconds since it was opened. */
  readonly lifetimeSeconds: number | undefined;
}

/** A viewer, and what became visible about an anonymous one: its row is gone, its limit has passed. */
export interface Judgement {
  readonly viewer: Viewer;
  readonly remark?: 'missing' | 'expired';
}

/** Milliseconds during which a key that re-authentication replaced still fits, for requests under way. */
export const PREVIOUS_KEY_FITS_MS = 30_000;

const ANONYMOUS: Judgement = { viewer: { kind: 'anonymous' } };

/**
 * What a session cookie and its row amount to: the table of browser-flows 2.5, in its order.
 * @param now milliseconds since the epoch
 */
export function judgeViewer(
  row: ViewerRow | undefined,
  cookie: SessionCookie | undefined,
  limits: SessionLimits,
  now: number,
): Judgement {
  if (cookie === undefined) return ANONYMOUS;
  if (row === undefined || row.viewer_session_id === null) return { ...ANONYMOUS, remark: 'missing' };
  if (!keyFits(row, cookie.keyHash, now)) return ANONYMOUS;
  const user = viewerUser(row);
  const sessionId = fromUuid<'browser-session'>(row.viewer_session_id);
  if (row.viewer_is_finished) return { viewer: { kind: 'ended', sessionId, user } };
  if (user.isDeactivated) return { viewer: { kind: 'deactivated', sessionId, user } };
  if (user.isLocked) return { viewer: { kind: 'locked', sessionId, user } };
  if (isExpired(row, limits, now)) return { ...ANONYMOUS, remark: 'expired' };
  const session = {
    id: sessionId,
    authenticatedAt: row.viewer_authenticated_at,
    acr: row.viewer_acr ?? undefined,
    amr: row.viewer_amr,
    createdAt: row.viewer_created_at,
  };
  return { viewer: { kind: 'active', session, user } };
}

type PresentRow = Exclude<ViewerRow, { readonly viewer_session_id: null }>;

function keyFits(row: PresentRow, keyHash: Buffer, now: number): boolean {
  if (equalDigests(row.viewer_key_hash, keyHash)) return true;
  const rotatedAt = row.viewer_key_rotated_at;
  return (
    row.viewer_previous_key_hash !== null &&
    rotatedAt !== null &&
    now - rotatedAt < PREVIOUS_KEY_FITS_MS &&
    equalDigests(row.viewer_previous_key_hash, keyHash)
  );
}

function isExpired(row: PresentRow, limits: SessionLimits, now: number): boolean {
  const lastActiveAt = row.viewer_last_active_at ?? row.viewer_created_at;
  return isOver(lastActiveAt, limits.idleSeconds, now) || isOver(row.viewer_created_at, limits.lifetimeSeconds, now);
}

function isOver(since: number, seconds: number | undefined, now: number): boolean {
  return seconds !== undefined && now - since >= seconds * 1000;
}

function viewerUser(row: PresentRow): User {
  return {
    id: fromUuid<'user'>(row.viewer_user_id),
    username: row.viewer_username,
    displayName: row.viewer_display_name ?? undefined,
    locale: row.viewer_locale ?? undefined,
    canRequestAdmin: row.viewer_can_request_admin,
    isLocked: row.viewer_is_locked,
    isDeactivated: row.viewer_is_deactivated,
  };
}
