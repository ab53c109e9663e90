-- expand

create table leases (
  name text primary key,
  holder uuid not null,
  expires_at timestamptz not null
);
comment on table leases is 'work that one process does at a time; a lease that ran out belongs to nobody';

create table sweep_runs (
  name text primary key,
  due_at timestamptz not null
);
comment on table sweep_runs is 'when each clean-up is due next';
