import { unusedSince } from '#domain/clean-up/sweep.ts';
import type { BrowserSession, SessionCookie } from '#domain/records/browser-session.ts';
import type { User } from '#domain/records/user.ts';
import { isRecent } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { equalDigests } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';

/**
 * The user identified by the `session` cookie of a request, according to its row (browser-flows 2.5). `ended`: signed
 * out elsewhere. `ended`, `locked` and `deactivated` get an interstitial page; the request is not attributed to their
 * user.
 */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'active'; readonly session: BrowserSession; readonly user: User }
  | { readonly kind: 'ended' | 'locked' | 'deactivated'; readonly sessionId: BrowserSessionId; readonly user: User };

/**
 * The viewer's part of a joined row. A statement that reads the viewer together with other rows selects
 * `viewerColumns`, adds `viewerJoin` to its from clause, and passes the row to `resolveViewer`.
 */
export type ViewerRow =
  | {
      readonly viewer_session_id: string;
      readonly viewer_key_hash: Buffer;
      readonly viewer_previous_key_hash: Buffer | null;
      readonly viewer_key_rotated_at: number | null;
      readonly viewer_authenticated_at: number;
      readonly viewer_acr: string | null;
      readonly viewer_amr: readonly string[];
      readonly viewer_created_at: number;
      readonly viewer_last_active_at: number | null;
      readonly viewer_is_finished: boolean;
      readonly viewer_user_id: string;
      readonly viewer_username: string;
      readonly viewer_display_name: string | null;
      readonly viewer_locale: string | null;
      readonly viewer_can_request_admin: boolean;
      readonly viewer_is_locked: boolean;
      readonly viewer_is_deactivated: boolean;
    }
  | { readonly viewer_session_id: null };

export const viewerColumns = `viewer_session.id as viewer_session_id,
  viewer_session.key_hash as viewer_key_hash,
  viewer_session.previous_key_hash as viewer_previous_key_hash,
  ${ms('viewer_session.key_rotated_at')} as viewer_key_rotated_at,
  ${ms('viewer_session.authenticated_at')} as viewer_authenticated_at,
  viewer_session.acr as viewer_acr,
  viewer_session.amr as viewer_amr,
  ${ms('viewer_session.created_at')} as viewer_created_at,
  ${ms('viewer_session.last_active_at')} as viewer_last_active_at,
  viewer_session.finished_at is not null as viewer_is_finished,
  viewer_user.id as viewer_user_id,
  viewer_user.username as viewer_username,
  viewer_user.display_name as viewer_display_name,
  viewer_user.locale as viewer_locale,
  viewer_user.can_request_admin as viewer_can_request_admin,
  viewer_user.locked_at is not null as viewer_is_locked,
  viewer_user.deactivated_at is not null as viewer_is_deactivated`;

/**
 * Returns joins that supply the columns above. The outer row is kept if the session does not exist.
 * @param sessionId parameter with the cookie's session ID or null, for example `:sessionId::uuid`
 */
export function viewerJoin(sessionId: string): string {
  return `left join user_sessions viewer_session on viewer_session.id = ${sessionId}
  left join users viewer_user on viewer_user.id = viewer_session.user_id`;
}

const findRow = lookup<ViewerRow, { readonly id: string }>(
  'find-viewer',
  `select ${viewerColumns} from (select 1) as one ${viewerJoin(':id::uuid')}`,
);

/** Returns the row of a session cookie, for `resolveViewer`. */
export async function findViewerRow(database: Queryable, id: BrowserSessionId): Promise<ViewerRow | undefined> {
  return await database.first(findRow, { id: toUuid(id) });
}

/** Lifetime limits of a session. */
export interface SessionLimits {
  /** Maximum seconds without recorded activity (`unusedSince`); undefined: unlimited. */
  readonly idleSeconds: number | undefined;
}

/** A viewer, and why a viewer with a cookie is anonymous: the row does not exist, or a limit was exceeded. */
export interface Judgement {
  readonly viewer: Viewer;
  readonly remark?: 'missing' | 'expired';
}

/** Milliseconds for which a rotated key is still accepted, for requests in flight. */
export const PREVIOUS_KEY_FITS_MS = 30_000;

const ANONYMOUS: Judgement = { viewer: { kind: 'anonymous' } };

/**
 * Determines the viewer from a session cookie and its row, in the order of the table in browser-flows 2.5.
 * @param now milliseconds since the epoch
 */
export function resolveViewer(
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
    isRecent(rotatedAt, PREVIOUS_KEY_FITS_MS - 1, now) &&
    equalDigests(row.viewer_previous_key_hash, keyHash)
  );
}

/** Uses the same rule as the cleanup, which ends sessions of browsers that never return. */
function isExpired(row: PresentRow, { idleSeconds }: SessionLimits, now: number): boolean {
  const lastActiveAt = row.viewer_last_active_at ?? row.viewer_created_at;
  return idleSeconds !== undefined && lastActiveAt < unusedSince(now, idleSeconds).getTime();
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
