-- expand
-- Background work. A job is written in the transaction of the change that needs it, and deleted when it is done.

create table queue_jobs (
  id uuid primary key,
  queue text not null,
  payload jsonb not null,
  -- of the waiting jobs with one key there is one
  dedup_key text,
  -- id of the request in the log
  queued_by text,
  -- runs that have begun
  attempt integer not null default 0,
  created_at timestamptz not null,
  -- from when on it may be taken; while it runs that is the end of its worker's lease
  due_at timestamptz not null,
  -- the worker that took it
  worker uuid,
  failed_at timestamptz,
  failed_reason text
);
create unique index queue_jobs_waiting on queue_jobs (queue, dedup_key) where worker is null and failed_at is null;
create index queue_jobs_due on queue_jobs (due_at) where failed_at is null;
create index queue_jobs_failed_at on queue_jobs (failed_at) where failed_at is not null;
comment on table queue_jobs is 'background work that is waiting, running, or failed for good';
