import { browserSessionIsLive } from './liveness.ts';

/**
 * An update that gives a live session a fresh authentication and another key. Returns `id`, `user_id` and `is_rotated`:
 * false when another request has just given the session a new key, which the browser gets then.
 * @param proven name of a CTE with the `user_id` of the person who proved who they are
 */
export function renewSessionSql(proven: string): string {
  return `update user_sessions s set
      authenticated_at = :now::timestamptz,
      acr = :acr::text,
      amr = :amr::text[],
      failed_reauths = 0,
      key_hash = case when s.key_hash = :keyHash::bytea then :newKeyHash::bytea else s.key_hash end,
      previous_key_hash = case when s.key_hash = :keyHash::bytea then s.key_hash else s.previous_key_hash end,
      key_rotated_at = case when s.key_hash = :keyHash::bytea then :now::timestamptz else s.key_rotated_at end
    from ${proven}
    where s.id = :sessionId::uuid and s.user_id = ${proven}.user_id and ${browserSessionIsLive('s')}
    returning s.id, s.user_id, s.key_hash = :newKeyHash::bytea as is_rotated`;
}
