-- expand

-- Clients that are part of the service: `builtin`. `managed` is reserved for those that administrators create. Null: a
-- client of the configuration or one that registered itself, as `is_static` says.
alter table oauth2_clients add column kind text;
alter table oauth2_clients add constraint oauth2_clients_kind_check check (kind in ('managed', 'builtin')) not valid;

-- Whether a browser session goes on. For tokens that end with it: a function, like session_ancestors_are_live, so that
-- statements about other tokens do not prepare the search.
create function browser_session_is_live(session uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from user_sessions s where s.id = session and s.finished_at is null);
end
$$;
