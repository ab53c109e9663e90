-- expand

-- Clients that are known by the https address of their metadata document instead of an id that was given to them. The
-- id of such a row is derived from the address, so nothing is looked up by the address itself.
alter table oauth2_clients add column document_url text;
alter table oauth2_clients add column document_fresh_until timestamptz;
