-- expand concurrently
-- Pages and numbers of the live sessions of one person, however many have ended. The condition on the time holds for
-- every row. Only statements that repeat it may use that index: others look for few of these sessions, and a planner
-- without statistics would read them all.
create index concurrently user_sessions_live_of_user on user_sessions (user_id, id) where finished_at is null;
create index concurrently oauth2_sessions_live_of_user on oauth2_sessions (user_id, id)
  where finished_at is null and user_id is not null and created_at < 'infinity';
create index concurrently compat_sessions_live_of_user on compat_sessions (user_id, id) where finished_at is null;
