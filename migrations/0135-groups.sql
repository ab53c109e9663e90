-- expand

-- Groups as records. Members are listed by name in users and upstream_links; a record gives the name an ID, which clients
-- and invitations refer to.
create table user_groups (
  id uuid primary key,
  name text not null unique,
  description text,
  -- The name before a rename, until a job has rewritten the lists of all members.
  former_name text unique,
  -- A sign-in provider reported this name when the names were last compared.
  is_external boolean not null default false,
  created_at timestamptz not null,
  -- Set until a job has removed the name from the lists of all members.
  deleted_at timestamptz
);
