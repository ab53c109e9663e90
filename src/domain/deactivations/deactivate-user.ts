/**
 * Ends an account for good. Owns no table: the mark, the sessions, the links and what was begun with the addresses are
 * changed by their modules in one transaction, so that everything is dead here before the homeserver hears of it (chat-compat 11.6, operations 6.3).
 */
import { forgetPerson, markDeactivated, markDeactivatedAtHomeserver } from '#domain/accounts/deactivation-mark.ts';
import { deleteEmailAuthentications } from '#domain/accounts/email-authentications/delete-email-authentications.ts';
import { deactivationIsAtHomeserver } from '#domain/accounts/liveness.ts';
import { deleteOpenRegistrations } from '#domain/accounts/registrations/delete-open-registrations.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { forgetConsentsOfUser } from '#domain/clients/consents.ts';
import { deleteDataExports } from '#domain/data-exports/delete-data-exports.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { type TellDeps, tellingQueue } from '#domain/homeserver/tell-homeserver.ts';
import {
  type EndedApplicationSessions,
  endApplicationSessionsOfUser,
} from '#domain/oauth-sessions/end-oauth2-session.ts';
import { deleteOneTimeCodes } from '#domain/one-time-codes/delete-one-time-codes.ts';
import { deletePasskeys } from '#domain/passkeys/remove-passkey.ts';
import { revokePersonalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { deletePendingRecoveries } from '#domain/recoveries/delete-recoveries.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { unlinkAccount } from '#domain/upstream/unlink-account.ts';
import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import { jobIsRunning } from '#platform/jobs/job-listing.ts';
import { INSERT_JOB, type JobQueue, jobIsWaiting, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const QUEUE = 'deactivate-user';

/** A job `j` for the user `u` asks for as much. */
const WILL_DO = `j.dedup_key in (u.id::text || ' erased', case when not :isErased::boolean then u.id::text end)`;

/**
 * Erasure stays wanted when it was wanted once. An account that was deactivated before gets a job only where the
 * homeserver has not done what is wanted and no job is going to: the last one failed for good, or asked for less. One
 * that has just been deactivated always does: a job that runs may have read that it was not.
 */
const insertJob = statement<
  never,
  {
    readonly id: string;
    readonly userId: string;
    readonly isErased: boolean;
    readonly isNew: boolean;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'queue-deactivation',
  `${INSERT_JOB}
   select :id::uuid, '${QUEUE}', jsonb_build_object('user_id', u.id, 'erase', :isErased::boolean),
     u.id::text || case when :isErased::boolean then ' erased' else '' end,
     :queuedBy::text, :now::timestamptz, :now::timestamptz
     from users u
    where u.id = :userId::uuid
      and (:isNew::boolean
        or not ${deactivationIsAtHomeserver('u', ':isErased::boolean')}
          and not exists (select from queue_jobs j where j.queue = '${QUEUE}' and ${WILL_DO} and ${jobIsWaiting('j')})
          and not exists (select from queue_jobs j
                           where j.queue = '${QUEUE}' and ${WILL_DO} and ${jobIsRunning('j', ':now::timestamptz')}))
   ${ON_WAITING_JOB}`,
);

/** The person themselves, from a browser; or somebody who runs the service, for them. */
export type DeactivatedBy =
  | {
      readonly kind: 'person';
      readonly address: string | undefined;
      readonly userAgent: string | undefined;
      /** Of the request, for the mail. */
      readonly language: string;
    }
  | { readonly kind: 'admin'; readonly actor: AuditActor };

export interface Deactivation {
  readonly user: UserId;
  readonly by: DeactivatedBy;
  /** The homeserver hides what the person wrote as well; here password, display name, groups and claims go. */
  readonly isErased: boolean;
  /** The person is told by mail, at the addresses that they had. */
  readonly isTold: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface DeactivationOutcome extends EndedApplicationSessions {
  /** False: it was deactivated before. */
  readonly isNew: boolean;
  readonly browserSessions: number;
  /** That acted as the person or belonged to them. */
  readonly personalSessions: number;
}

/**
 * Expects the caller's transaction. The name stays taken. Identities at providers are freed by who leaves and by erasure;
 * who was sent away does not get in again through one of them as somebody else (account-graphql 5.3, operations 6.3).
 */
export async function deactivateUser(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { user, by, isErased, isTold, now }: Deactivation,
): Promise<DeactivationOutcome> {
  const isOwn = by.kind === 'person';
  const isNew = await markDeactivated(transaction, user, now);
  if (isNew) {
    const actor = isOwn ? { address: by.address, userAgent: by.userAgent } : by.actor;
    const eventId = await recordAuditEvent(transaction, {
      kind: 'account_deactivated',
      at: now,
      userId: user,
      ...actor,
    });
    const told = { user, eventId, detail: { own: isOwn }, language: isOwn ? by.language : undefined, now };
    if (isTold) await queueNotice(transaction, 'account_deactivated', told);
  }
  const freedEmailKeys = await forgetPerson(transaction, user, { isErased, now });
  if (freedEmailKeys.length > 0) {
    await deleteOpenRegistrations(transaction, freedEmailKeys);
    await deleteEmailAuthentications(transaction, freedEmailKeys);
    await deletePendingRecoveries(transaction, freedEmailKeys);
  }
  const reason = isOwn ? 'deactivated' : 'admin';
  const browserSessions = await finishBrowserSession(transaction, { userId: user, which: 'all', reason, now });
  // The homeserver deletes the devices with the account.
  const end = { reason, now, syncsDevices: false } as const;
  const applications = await endApplicationSessionsOfUser(transaction, user, end);
  // Those that act as somebody else may have a device that stays.
  const told = { now, syncsDevices: homeserver.isConnected };
  const personalSessions = await revokePersonalSessionsOfUser(transaction, user, told);
  await forgetConsentsOfUser(transaction, user);
  await deleteDataExports(transaction, user);
  await deletePasskeys(transaction, user);
  await deleteOneTimeCodes(transaction, user);
  if (isOwn || isErased) await unlinkAccount(transaction, user);
  if (homeserver.isConnected) {
    const id = toUuid(newId(now));
    const job = { id, userId: toUuid(user), isErased, isNew, queuedBy: queuedBy(), now: new Date(now) };
    await transaction.execute(insertJob, job);
  }
  return { isNew, browserSessions, ...applications, personalSessions };
}

export function deactivateUserQueue(deps: TellDeps): JobQueue {
  return tellingQueue(QUEUE, deps, async (told, context, payload) => {
    // Reactivated since.
    if (!told.isDeactivated) return { ok: true, value: undefined };
    const isErased = typeof payload === 'object' && payload !== null && 'erase' in payload && payload.erase === true;
    const result = await deps.homeserver.deleteUser(told.localpart, isErased, context);
    // Who never existed there cannot be active there.
    if (!result.ok && result.reason !== 'unknown-user') return result;
    // Before the job is done with: a crash in between has it run again, which changes nothing.
    await markDeactivatedAtHomeserver(deps.database, told.userId, { isErased, now: deps.clock.now() });
    return { ok: true, value: undefined };
  });
}
