import { insertSyncsOfEnded } from '#domain/homeserver/device-sync-jobs.ts';
import { compatRefreshTokenIsUnconsumed, compatRefreshTokenIsUnrevoked, compatSessionIsLive } from './liveness.ts';

/**
 * CTEs that end sessions inside a larger statement (chat-compat 10.2): `compat_ended`, the sessions of `roots` that
 * this statement finished; `compat_erased`, which leaves no live refresh token behind, and no salt from which a successor
 * could be derived again.
 *
 * A token of a finished session does not work, with or without its own mark. Sessions are locked before their tokens,
 * and after the OAuth sessions of the same person.
 * The homeserver is told of the devices that are gone. Expects `SessionEndParams`.
 * @param roots a query of session ids
 * @param now parameter with the time, cast to `timestamptz`; @param reason text expression on `compat_sessions`
 * @param syncDueAt see `insertDeviceSyncs`
 */
export function compatEndingCtes(roots: string, now: string, reason: string, syncDueAt?: string): string {
  return `${compatFinishingCtes(roots, now, reason)}, compat_synced as (
    ${insertSyncsOfEnded([COMPAT_ENDED_DEVICES], now, syncDueAt)}
  )`;
}

/** Of the sessions that `compatFinishingCtes` finished. */
export const COMPAT_ENDED_DEVICES = 'select user_id, device_id, finish_reason from compat_ended';

/** The same for a statement that tells the homeserver of sessions of every kind: `endingCtes`. */
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
