/** Shared parts of the jobs that update a user at the homeserver (chat-compat 11.8). */
import { fromUuid } from '#platform/base/ids.ts';
import { DONE, type Job, type JobOutcome, type JobQueue } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CallContext, Homeserver, HomeserverResult } from './homeserver.ts';
import { type LeaseDeps, withUserLease } from './user-lease.ts';

export interface NotifyDeps extends LeaseDeps {
  readonly homeserver: Homeserver;
}

const TIME_LIMIT_SECONDS = 360;
/** Long enough that an outage over a weekend does not leave the homeserver outdated. */
const RETRIED_FOR_SECONDS = 72 * 3600;
const BUSY_SECONDS = 2;

/** The current data of a user, for the homeserver. */
export interface NotifiedUser {
  /** As a UUID. */
  readonly userId: string;
  readonly localpart: string;
  readonly subject: string;
  readonly isLocked: boolean;
  readonly isDeactivated: boolean;
  /** The homeserver may have devices of the user that are unknown here, see `unknown-devices.ts`. */
  readonly keepsUnknownDevices: boolean;
  readonly emails: readonly string[];
  /** The display name stored in this database. */
  readonly storedDisplayName: string | undefined;
}

/**
 * Returns a queue of jobs about the user in their `user_id` member. Jobs of the same user run one at a time, and read
 * the current data when they run.
 */
export function notificationQueue(
  name: string,
  deps: NotifyDeps,
  notify: (user: NotifiedUser, context: CallContext, payload: unknown) => Promise<HomeserverResult<unknown>>,
): JobQueue {
  return {
    name,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    retriedForSeconds: RETRIED_FOR_SECONDS,
    run: (job) => run(deps, job, notify),
  };
}

async function run(deps: NotifyDeps, job: Job, notify: Parameters<typeof notificationQueue>[2]): Promise<JobOutcome> {
  const userId = (await deps.database.first(readPayload, { payload: JSON.stringify(job.payload) }))?.user_id ?? null;
  if (userId === null) return { kind: 'failed', reason: 'the payload has no user ID' };
  const outcome = await withUserLease(deps, userId, job.signal, async (signal): Promise<JobOutcome> => {
    const facts = await readNotifiedUser(deps.database, userId);
    if (facts === undefined) return { kind: 'failed', reason: `user ${fromUuid(userId)} not found` };
    return outcomeOf(await notify(facts, { kind: 'job', signal }, job.payload), facts.subject);
  });
  if (outcome !== undefined) return outcome.value;
  if ((await readNotifiedUser(deps.database, userId)) === undefined)
    return { kind: 'failed', reason: `user ${fromUuid(userId)} not found` };
  return {
    kind: 'postponed',
    reason: 'another process is updating this user at the homeserver',
    afterSeconds: BUSY_SECONDS,
  };
}

function outcomeOf(result: HomeserverResult<unknown>, user: string): JobOutcome {
  if (result.ok) return DONE;
  const reason = `user ${user}: ${result.detail}`;
  if (result.reason !== 'unavailable') return { kind: 'failed', reason };
  return { kind: 'retry', reason, afterSeconds: result.retryAfterSeconds };
}

/** Returns null instead of an error for text that is not an ID. */
const readPayload = statement<{ user_id: string | null }, { readonly payload: string }>(
  'read-homeserver-job',
  `select case when :payload::jsonb ->> 'user_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
               then (:payload::jsonb ->> 'user_id')::uuid end as user_id`,
);

interface NotifiedUserRow {
  readonly username: string;
  readonly display_name: string | null;
  readonly is_locked: boolean;
  readonly is_deactivated: boolean;
  readonly keeps_unknown_devices: boolean;
  readonly emails: readonly string[];
}

const findNotifiedUser = statement<NotifiedUserRow, { readonly userId: string }>(
  'find-told-user',
  `select u.username, u.display_name, u.locked_at is not null as is_locked, u.deactivated_at is not null as is_deactivated,
          u.keeps_unknown_devices,
          array(select e.email from user_emails e where e.user_id = u.id order by e.created_at, e.id) as emails
     from users u where u.id = :userId::uuid`,
);

/** Reads the user's data. Undefined if the user does not exist. */
export async function readNotifiedUser(database: Queryable, userId: string): Promise<NotifiedUser | undefined> {
  const row = await database.first(findNotifiedUser, { userId });
  if (row === undefined) return undefined;
  return {
    userId,
    localpart: row.username,
    subject: fromUuid(userId),
    isLocked: row.is_locked,
    isDeactivated: row.is_deactivated,
    keepsUnknownDevices: row.keeps_unknown_devices,
    emails: row.emails,
    storedDisplayName: row.display_name ?? undefined,
  };
}
