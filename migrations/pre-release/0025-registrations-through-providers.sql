-- expand
-- Registrations that began with a sign-in through another service.

alter table user_registrations
  add column upstream_authorization_id uuid references upstream_authorizations (id) on delete cascade,
  -- The other service decides the name; the person cannot choose another.
  add column has_fixed_username boolean not null default false;
create index user_registrations_upstream_authorization on user_registrations (upstream_authorization_id)
  where upstream_authorization_id is not null;
