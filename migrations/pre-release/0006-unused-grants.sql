-- expand concurrently

create index concurrently oauth2_authorization_grants_unused on oauth2_authorization_grants (requester_ip, expires_at)
  where exchanged_at is null;
create index concurrently oauth2_authorization_grants_unused_of_user
  on oauth2_authorization_grants (requester_user_id, expires_at)
  where exchanged_at is null and requester_user_id is not null;
drop index concurrently if exists oauth2_authorization_grants_pending;
