-- expand
-- Pushed authorization requests (RFC 9126): a client hands in the parameters of a request, and sends the browser with a
-- reference to them.

create table oauth2_pushed_requests (
  request_uri_hash bytea primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  -- values by name
  parameters jsonb not null,
  -- they came in a request object of the client (RFC 9101)
  signed boolean not null default false,
  -- thumbprint of the key that the client proved to have when it pushed (RFC 9449 10.1)
  dpop_jkt text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- the one authorization grant that came of it
  authorization_grant_id uuid references oauth2_authorization_grants (id) on delete cascade,
  consumed_at timestamptz
);
create index oauth2_pushed_requests_expires_at on oauth2_pushed_requests (expires_at);
create index oauth2_pushed_requests_client on oauth2_pushed_requests (client_id);
create index oauth2_pushed_requests_grant on oauth2_pushed_requests (authorization_grant_id)
  where authorization_grant_id is not null;
