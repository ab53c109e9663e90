-- expand

-- When something that the scope `profile` shows last changed; null: not since the account was made.
alter table users add column updated_at timestamptz;

-- By trigger, so that no statement can forget it, those of the version before included.
create function note_profile_change() returns trigger language plpgsql as $$
begin
  if new.updated_at is not distinct from old.updated_at
    and (new.username, new.display_name, new.locale) is distinct from (old.username, old.display_name, old.locale)
  then
    new.updated_at := clock_timestamp();
  end if;
  return new;
end
$$;
create trigger users_updated_at before update of username, display_name, locale on users
  for each row execute function note_profile_change();
