-- expand

-- Whether none of the sessions that a session grew out of, by exchanges of tokens, has ended, and their clients are
-- enabled. A function, since few sessions have a parent: within a statement, the server would prepare this search at
-- every execution, which takes a third of an introspection. In PL/pgSQL, which keeps its plan.
create function session_ancestors_are_live(parent uuid) returns boolean language plpgsql stable as $$
begin
  return not exists (
    with recursive ancestor (id, parent_session_id, is_live) as (
      select p.id, p.parent_session_id, p.finished_at is null and c.disabled_at is null
        from oauth2_sessions p join oauth2_clients c on c.id = p.client_id
       where p.id = parent
      union all
      select p.id, p.parent_session_id, p.finished_at is null and c.disabled_at is null
        from ancestor a
        join oauth2_sessions p on p.id = a.parent_session_id
        join oauth2_clients c on c.id = p.client_id
    )
    select from ancestor where not is_live
  );
end
$$;
