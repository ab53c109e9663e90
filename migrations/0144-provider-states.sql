-- expand

-- How a sign-in provider works, for administrators. Each value replaces the one before it.
alter table upstream_providers
  add column key_types text[],
  add column keys_fetched_at timestamptz,
  add column last_success_at timestamptz,
  add column last_error text,
  add column last_error_at timestamptz;
comment on column upstream_providers.key_types is 'types of the usable keys that were fetched last';
comment on column upstream_providers.last_success_at is 'when a user last came back with a valid response';
comment on column upstream_providers.last_error is 'code of the last error; null: none yet';
