-- expand

-- Figures by hour and day (UTC). One job writes them, from audit events and counters.
create table statistics_buckets (
  metric text not null,
  -- 'hour' or 'day'.
  step text not null,
  -- The zero id: all clients together.
  client_id uuid not null,
  started_at timestamptz not null,
  value bigint not null,
  constraint statistics_buckets_pkey primary key (metric, step, client_id, started_at)
);
create index statistics_buckets_started_at on statistics_buckets (started_at);
create index statistics_buckets_client_hours on statistics_buckets (started_at)
  where step = 'hour' and client_id <> '00000000-0000-0000-0000-000000000000';
comment on table statistics_buckets is 'figures by hour and day, from events and counters';

-- What leaves no event. Every process counts in memory and adds once a minute.
create table statistics_counters (
  hour timestamptz not null,
  name text not null,
  -- The zero id: no client.
  client_id uuid not null,
  value bigint not null,
  constraint statistics_counters_pkey primary key (hour, name, client_id)
);
comment on table statistics_counters is 'counts by hour of what leaves no event';

-- One row, 'buckets'.
create table statistics_progress (
  name text not null,
  rolled_up_to timestamptz not null,
  constraint statistics_progress_pkey primary key (name)
);
comment on table statistics_progress is 'the hour up to which figures are complete';

create table user_active_days (
  day date not null,
  user_id uuid not null,
  constraint user_active_days_pkey primary key (day, user_id),
  constraint user_active_days_user_id_fkey foreign key (user_id) references users (id) on delete cascade
);
create index user_active_days_user on user_active_days (user_id);
comment on table user_active_days is 'the days (UTC) on which accounts were active';
