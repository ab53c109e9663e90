-- expand

create table secret_keys (
  purpose text primary key,
  key_sealed bytea not null,
  created_at timestamptz not null
);
comment on table secret_keys is 'keys drawn once that outlive a change of the encryption key, which seals them';
