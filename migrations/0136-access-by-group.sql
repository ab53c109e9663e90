-- expand

-- IDs of the groups whose members may use the client. Null: every user may. The ID of a deleted group matches nobody.
alter table oauth2_clients add column allowed_groups uuid[];

-- Whether a user is in one of the groups that a client is limited to: a function, like session_ancestors_are_live, so that
-- statements for clients without a limit do not prepare the search.
create function user_may_use_client(account uuid, own_groups text[], allowed uuid[]) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from user_groups g
     where g.id = any (allowed) and g.deleted_at is null
       and (own_groups @> array[g.name] or own_groups @> array[g.former_name]
            or exists (select from upstream_links l join upstream_providers p on p.id = l.provider_id
                        where l.user_id = account and p.disabled_at is null and l.groups @> array[g.name]))
  );
end
$$;
