/**
 * Queues jobs for all users, for an operator who wants to resend everything to the homeserver (operations 3.5).
 */

import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import type { Clock } from '#platform/base/clock.ts';
import { INSERT_JOB, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import { insertDeviceSyncs } from './device-sync-jobs.ts';
import { PROVISION_USER_QUEUE } from './provision-user.ts';

const PAGE_USERS = 1000;
/** Twenty jobs per second, to limit the load on the homeserver. */
const SPACING_MS = 50;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface Page {
  readonly users: number;
  /** Null if no users are left. */
  readonly last_id: string | null;
}

type PageParams = {
  readonly after: string;
  readonly queuedBefore: number;
  readonly onlyActive: boolean;
  readonly now: Date;
  readonly queuedBy: string | null;
};

/** @param insert inserts jobs for `page(user_id, due_at)` */
function pageStatement(label: string, insert: string): Statement<Page, PageParams> {
  return statement(
    label,
    `with page as materialized (
      select u.id as user_id,
             :now::timestamptz + (:queuedBefore::integer + row_number() over (order by u.id) - 1) * interval '${SPACING_MS} ms' as due_at
        from (select u.id from users u
               where u.id > :after::uuid and (not :onlyActive::boolean or ${accountIsUsable('u')})
               order by u.id limit ${PAGE_USERS}) u
    ), queued as (
      ${insert}
    )
    select count(*)::integer as users, (select user_id from page order by user_id desc limit 1) as last_id from page`,
  );
}

const queueProvisionings = pageStatement(
  'queue-provisioning-of-everybody',
  `${INSERT_JOB}
      select gen_random_uuid(), '${PROVISION_USER_QUEUE}', jsonb_build_object('user_id', page.user_id), page.user_id::text,
             :queuedBy::text, :now::timestamptz, page.due_at
        from page order by page.user_id
      ${ON_WAITING_JOB}`,
);

const queueSyncs = pageStatement(
  'queue-device-sync-of-everybody',
  insertDeviceSyncs('select user_id, due_at from page', ':now::timestamptz', 'told.due_at'),
);

const STATEMENTS = { provisioning: queueProvisionings, 'device-sync': queueSyncs };

/**
 * Queues a job per user, one page at a time. An interrupted run can be restarted, since at most one job per user waits.
 * @returns the number of users, and the time until the last job is due
 */
export async function queueForEverybody(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  what: keyof typeof STATEMENTS,
  onlyActive: boolean,
): Promise<{ readonly users: number; readonly seconds: number }> {
  const now = new Date(clock.now());
  let [after, users]: [string | null, number] = [FIRST_ID, 0];
  while (after !== null) {
    const page: Page | undefined = await database.first(STATEMENTS[what], {
      after,
      queuedBefore: users,
      onlyActive,
      now,
      queuedBy: queuedBy(),
    });
    users += page?.users ?? 0;
    after = page === undefined || page.users < PAGE_USERS ? null : page.last_id;
  }
  return { users, seconds: Math.ceil((users * SPACING_MS) / 1000) };
}
