-- expand concurrently

-- The few clients that administrators created.
create index concurrently oauth2_clients_kind on oauth2_clients (kind, id) where kind is not null;
