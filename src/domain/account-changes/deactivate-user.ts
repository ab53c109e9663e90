/**
 * Deactivates an account permanently. Other modules change the mark, the sessions, the links and what was started
 * with the addresses. All of it happens in one transaction, so that all access here has ended before the homeserver is
 * notified (chat-compat 11.6, operations 6.3).
 */
import {
  markDeactivated,
  markDeactivatedAtHomeserver,
  removePersonalData,
} from '#domain/accounts/deactivation-mark.ts';
import { deleteEmailAuthentications } from '#domain/accounts/email-authentications/delete-email-authentications.ts';
import { deleteOpenRegistrations } from '#domain/accounts/registrations/delete-open-registrations.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { forgetConsentsOfUser } from '#domain/clients/consents.ts';
import { deleteDataExports } from '#domain/data-exports/delete-data-exports.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { type NotifyDeps, notificationQueue } from '#domain/homeserver/notify-homeserver.ts';
import {
  type EndedApplicationSessions,
  endApplicationSessionsOfUser,
} from '#domain/oauth-sessions/end-oauth2-session.ts';
import { deletePasskeys } from '#domain/passkeys/remove-passkey.ts';
import { revokePersonalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { deactivationIsAtHomeserver } from '#domain/records/liveness/accounts.ts';
import { deleteOneTimeCodes } from '#domain/second-factors/delete-one-time-codes.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { unlinkAccount } from '#domain/upstream/unlink-account.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { jobIsRunning } from '#platform/jobs/job-listing.ts';
import { INSERT_JOB, type JobQueue, jobIsWaiting, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { deletePendingRecoveries } from './delete-recoveries.ts';

const QUEUE = 'deactivate-user';

/** The job `j` does at least what was requested for the user `u`. */
const WILL_DO = `j.dedup_key in (u.id::text || ' erased', case when not :isErased::boolean then u.id::text end)`;

/**
 * Once requested, erasure stays requested. An account that was already deactivated gets a job only if the homeserver
 * has not done what is requested and no other job is going to. That is the case if the last job failed permanently or
 * requested less. A newly deactivated account always gets a job, because a running job may have read it as active.
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

/** The user in a browser, or an administrator or operator. */
export type DeactivatedBy =
  | {
      readonly kind: 'person';
      readonly address: string | undefined;
      readonly userAgent: string | undefined;
      /** Language of the request, for the email. */
      readonly language: string;
    }
  | { readonly kind: 'admin'; readonly actor: AuditActor };

export interface Deactivation {
  readonly user: UserId;
  readonly by: DeactivatedBy;
  /** Also hides the user's messages at the homeserver, and deletes password, names, groups and claims here. */
  readonly isErased: boolean;
  /** Whether the user gets a notice at the addresses that the account had. */
  readonly isTold: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface DeactivationOutcome extends EndedApplicationSessions {
  /** False if the account was deactivated before. */
  readonly isNew: boolean;
  readonly browserSessions: number;
  /** Sessions that acted as the user or belonged to them. */
  readonly personalSessions: number;
}

/**
 * Deactivates an account in the caller's transaction. The username stays taken. Identities at upstream providers are
 * unlinked on self-service deactivation and on erasure. Otherwise they stay linked, so that a user whom an
 * administrator deactivated cannot use one to create another account (account-graphql 5.3, operations 6.3).
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
    const notice = { user, eventId, detail: { own: isOwn }, language: isOwn ? by.language : undefined, now };
    if (isTold) await queueNotice(transaction, 'account_deactivated', notice);
  }
  const freedEmailKeys = await removePersonalData(transaction, user, { isErased, now });
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
  // Sessions that act as another user may have a device that stays.
  const options = { now, syncsDevices: homeserver.isConnected };
  const personalSessions = await revokePersonalSessionsOfUser(transaction, user, options);
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

export function deactivateUserQueue(deps: NotifyDeps): JobQueue {
  return notificationQueue(QUEUE, deps, async (notified, context, payload) => {
    // The account has been reactivated since.
    if (!notified.isDeactivated) return { ok: true, value: undefined };
    const isErased = typeof payload === 'object' && payload !== null && 'erase' in payload && payload.erase === true;
    const result = await deps.homeserver.deleteUser(notified.localpart, isErased, context);
    // A user unknown to the homeserver cannot be active there.
    if (!result.ok && result.reason !== 'unknown-user') return result;
    // Runs before the job completes. After a crash in between, the job runs once more and changes nothing.
    await markDeactivatedAtHomeserver(deps.database, notified.userId, { isErased, now: deps.clock.now() });
    return { ok: true, value: undefined };
  });
}
