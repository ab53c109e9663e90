-- expand concurrently
-- Which applications can act for a person, however many sessions each of them has, and what can be said of one. The
-- condition on the time holds for every row: statements that do not repeat it go on with the indexes that they have.
create index concurrently oauth2_sessions_live_by_client on oauth2_sessions (user_id, client_id)
  where finished_at is null and user_id is not null and created_at > '-infinity';
