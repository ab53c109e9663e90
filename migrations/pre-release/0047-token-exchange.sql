-- expand
-- Who acts in a session that began with the token of another one (RFC 8693 4.1); null: nobody but its person.
alter table oauth2_sessions add column act jsonb;
