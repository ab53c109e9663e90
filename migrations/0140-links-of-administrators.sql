-- expand

-- A link to set a password that an administrator hands over belongs to an account that may have no address.
alter table user_recovery_tickets alter column user_email_id drop not null;

-- An administrator requested it, so it works while recovery by users is disabled.
alter table user_recovery_sessions add column is_by_admin boolean not null default false;
