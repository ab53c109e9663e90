-- expand

-- The digest holds the kind of the value, and whose it is, too: one index is enough.
create table replayed_values (
  value_hash bytea primary key,
  expires_at timestamptz not null
);
create index replayed_values_expires_at on replayed_values (expires_at);
comment on table replayed_values is 'ids of JWTs that were accepted and must not be accepted again';
