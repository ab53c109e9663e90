-- expand concurrently
-- Attempts to prove an address, by address: those for the addresses of an account that is deactivated are deleted.

create index concurrently user_email_authentications_email_key on user_email_authentications (email_key);
