-- expand
-- The processes of the service that live, and a digest of what has to be configured alike in all of them.

create table queue_workers (
  id uuid primary key,
  -- machine and process id, for messages
  name text not null,
  version text not null,
  -- it does background work
  works boolean not null,
  config_digest bytea not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null
);
create index queue_workers_last_seen_at on queue_workers (last_seen_at);
