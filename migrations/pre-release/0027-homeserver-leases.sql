-- expand
-- Who tells the homeserver of a person right now: one process at a time, so that what it hears last is what is true.

create table homeserver_leases (
  user_id uuid primary key references users (id) on delete cascade,
  -- made for each use, so that a process whose lease ran out cannot prolong that of another
  owner uuid not null,
  expires_at timestamptz not null
);
create index homeserver_leases_expires_at on homeserver_leases (expires_at);
