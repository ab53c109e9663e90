-- expand concurrently
-- The live sessions of a client, which lists of clients count. Newest last. (The condition on `client_id` holds for
-- every row; statements that do not repeat it keep their plans.)
create index concurrently oauth2_sessions_live_of_client on oauth2_sessions (client_id, id)
  where finished_at is null and client_id > '00000000-0000-0000-0000-000000000000';
