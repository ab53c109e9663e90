import { insertSyncsOfEnded } from '#domain/homeserver/device-sync-jobs.ts';
import {
  compatRefreshTokenIsUnconsumed,
  compatRefreshTokenIsUnrevoked,
  compatSessionIsLive,
} from '#domain/records/liveness/compat-sessions.ts';

/**
 * Returns CTEs that end sessions inside a larger statement (chat-compat 10.2). `compat_ended` returns the sessions of
 * `roots` that this statement finished. `compat_erased` revokes their live refresh tokens and deletes the salts from
 * which successors could be derived.
 *
 * Tokens of a finished session do not work, even if they are not marked as revoked. Sessions are locked before their
 * tokens, and after the user's OAuth sessions. The homeserver is notified of the removed devices. Expects
 * `SessionEndParams`.
 * @param roots a query of session IDs
 * @param now parameter with the time, cast to `timestamptz`; @param reason text expression on `compat_sessions`
 * @param syncDueAt see `insertDeviceSyncs`
 */
export function compatEndingCtes(roots: string, now: string, reason: string, syncDueAt?: string): string {
  return `${compatFinishingCtes(roots, now, reason)}, compat_synced as (
    ${insertSyncsOfEnded([COMPAT_ENDED_DEVICES], now, syncDueAt)}
  )`;
}

/** Selects the devices of sessions that `compatFinishingCtes` finished. */
export const COMPAT_ENDED_DEVICES = 'select user_id, device_id, finish_reason from compat_ended';

/** Like `compatEndingCtes`, for a statement that syncs devices of all kinds of sessions together: `endingCtes`. */
export function compatFinishingCtes(roots: string, now: string, reason: string): string {
  return `compat_ended as (
    update compat_sessions
       set finished_at = ${now}, finish_reason = ${reason}
     where id in (${roots}) and ${compatSessionIsLive('compat_sessions')}
    returning id, user_id, device_id, human_name, finish_reason
  ), compat_erased as (
    update compat_refresh_tokens t
       set revoked_at = case when ${compatRefreshTokenIsUnconsumed('t')} then ${now} else t.revoked_at end, rotation_salt = null
     where t.session_id in (select id from compat_ended)
       and ${compatRefreshTokenIsUnrevoked('t')} and (${compatRefreshTokenIsUnconsumed('t')} or t.rotation_salt is not null)
  )`;
}
