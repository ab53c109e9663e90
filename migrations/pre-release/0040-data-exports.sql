-- expand
-- What people take with them of their account: made by a job, kept for a few days, and deleted with its row.

create table data_exports (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- of the request that asked for it, for the mail
  language text,
  created_at timestamptz not null,
  -- a zip file; null until it is made
  archive bytea,
  size_bytes integer,
  ready_at timestamptz,
  failed_at timestamptz,
  expires_at timestamptz not null
);
-- It is compressed already.
alter table data_exports alter column archive set storage external;
create index data_exports_user on data_exports (user_id, id);
create index data_exports_expires_at on data_exports (expires_at);
