import { SYNC_DEVICES_QUEUE } from '#domain/homeserver/device-sync-jobs.ts';
import { PROVISION_USER_QUEUE } from '#domain/homeserver/provision-user.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, ON_WAITING_JOB } from '#platform/jobs/queue.ts';
import type { MasImport, MasOutcome, MasStep } from './mas-import.ts';

/** Condition: the job has yet to run. */
export const JOB_IS_OPEN = `status in ('available', 'scheduled', 'running', 'lost')`;

/** Names here of the jobs that are imported. Others send codes that expire within minutes, or clean up. */
const QUEUES: Readonly<Record<string, string>> = {
  'provision-user': PROVISION_USER_QUEUE,
  'sync-devices': SYNC_DEVICES_QUEUE,
  'provision-device': SYNC_DEVICES_QUEUE,
  'delete-device': SYNC_DEVICES_QUEUE,
  'deactivate-user': 'deactivate-user',
  'reactivate-user': 'reactivate-user',
};

export const IMPORTED_QUEUES = Object.keys(QUEUES);

interface SourceJob {
  readonly queue_name: string;
  readonly user_id: string | null;
  readonly erase: string | null;
  readonly display_name: string | null;
}

/** Reads the open jobs into a temporary table, because accounts that are to be deactivated are imported as such. */
export async function stageOpenJobs({ source, target }: MasImport): Promise<void> {
  await target.query(
    `create temporary table mas_jobs (queue text, user_id uuid, erase boolean, display_name text) on commit drop`,
  );
  const names = IMPORTED_QUEUES.map((name) => `'${name}'`).join(', ');
  for await (const rows of source.batches<SourceJob>(
    `select queue_name, payload ->> 'user_id' as user_id, payload ->> 'hs_erase' as erase,
            payload ->> 'set_display_name' as display_name
       from queue_jobs where ${JOB_IS_OPEN} and queue_name in (${names})`,
  )) {
    const jobs = rows.flatMap((row) => {
      const id = parseId(row.user_id ?? '');
      if (id === undefined) return [];
      const { erase, display_name: displayName } = row;
      return [{ queue: QUEUES[row.queue_name], userId: toUuid(id), erase: erase === 'true', displayName }];
    });
    await target.execute(
      `insert into mas_jobs select * from unnest($1::text[], $2::uuid[], $3::boolean[], $4::text[])`,
      [
        jobs.map(({ queue }) => queue),
        jobs.map(({ userId }) => userId),
        jobs.map(({ erase }) => erase),
        jobs.map(({ displayName }) => displayName),
      ],
    );
  }
  await target.query('analyze mas_jobs');
}

/** Queues what MAS had not done yet at the homeserver. */
export const openJobsStep: MasStep = {
  entity: 'jobs',
  tables: [],
  run: async ({ target, now, hasHomeserver }): Promise<MasOutcome> => {
    const [staged] = await target.query<{ count: number }>('select count(*)::integer as count from mas_jobs');
    const total = staged?.count ?? 0;
    if (!hasHomeserver) return { done: 0, skipped: { 'not needed': total } };
    const done = await target.execute(
      `${INSERT_JOB}
       select gen_random_uuid(), j.queue,
              jsonb_strip_nulls(jsonb_build_object('user_id', j.user_id, 'display_name', j.display_name,
                'erase', case when j.queue = 'deactivate-user' then j.erase end)),
              j.user_id::text || case when j.erase then ' erased' when j.display_name is not null then ' named' else '' end,
              null, $1::timestamptz, $1::timestamptz
         from (select queue, user_id, bool_or(erase) as erase, max(display_name) as display_name
                 from mas_jobs group by queue, user_id) j
         join users u on u.id = j.user_id
        order by j.user_id
       ${ON_WAITING_JOB}`,
      [now],
    );
    return { done, skipped: { duplicate: total - done } };
  },
};
