-- expand concurrently
-- Live sessions of people, oldest first: those that are past their time are looked for among them. The condition on the
-- time holds for every row. Only statements that repeat it may use this index: others look for few of these sessions,
-- and a planner without statistics would read them all.
create index concurrently oauth2_sessions_live_of_users on oauth2_sessions (created_at, id)
  where finished_at is null and user_id is not null and created_at > '-infinity';
