-- expand concurrently
-- Who is in a group, for lists of administrators.
create index concurrently users_groups on users using gin (groups) where groups is not null;
create index concurrently upstream_links_groups on upstream_links using gin (groups)
  where groups is not null and user_id is not null;
