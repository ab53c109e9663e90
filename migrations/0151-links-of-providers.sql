-- expand concurrently
-- The identities at a provider, which lists of providers count. Newest last.
create index concurrently upstream_links_provider on upstream_links (provider_id, id) include (user_id);
