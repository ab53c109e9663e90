-- expand concurrently
-- How many sessions of applications live, and their pages, for lists of administrators: neither reads those that have
-- ended. The condition on the identifier holds for every row: statements that do not repeat it go on with the indexes
-- that they have.
create index concurrently oauth2_sessions_live on oauth2_sessions (id)
  where finished_at is null and id > '00000000-0000-0000-0000-000000000000';
