-- expand concurrently

-- The clients that are limited to a group.
create index concurrently oauth2_clients_allowed_groups on oauth2_clients using gin (allowed_groups)
  where allowed_groups is not null;
