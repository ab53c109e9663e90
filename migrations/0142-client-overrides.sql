-- expand

-- Name and logo that an administrator gave a client that registered itself, with the names of its metadata.
alter table oauth2_clients add column overrides jsonb;
