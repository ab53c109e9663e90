-- expand concurrently
-- Pages of the sessions of a person, in the order in which they were opened.
create index concurrently user_sessions_user on user_sessions (user_id, id);
