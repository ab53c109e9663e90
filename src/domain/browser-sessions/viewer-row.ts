import { ms } from '#platform/postgres/statement.ts';

/**
 * The viewer's part of a joined read. Statements that need the viewer beside other rows take `viewerColumns` into
 * their select list and `viewerJoin` into their from clause, and give the row to `judgeViewer`.
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
 * Joins that bring the columns above; they keep the outer row when there is no such session.
 * @param sessionId parameter that holds the cookie's session id or null, for example `:sessionId::uuid`
 */
export function viewerJoin(sessionId: string): string {
  return `left join user_sessions viewer_session on viewer_session.id = ${sessionId}
  left join users viewer_user on viewer_user.id = viewer_session.user_id`;
}
