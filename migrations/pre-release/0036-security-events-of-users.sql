-- expand concurrently
-- Pages of the security events of a person, in the order in which they happened.
create index concurrently audit_events_of_user on audit_events (user_id, id) where user_id is not null;
