-- expand
-- Policy data of administrators, which is added to that of the configuration. The row with the highest id is in force;
-- the last ten are kept.

create table policy_data (
  id uuid primary key,
  data jsonb not null,
  created_at timestamptz not null
);
