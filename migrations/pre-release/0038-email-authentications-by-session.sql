-- expand concurrently
-- Attempts to prove an address, by browser session: few are open at once, and they are deleted with it.

create index concurrently user_email_authentications_session on user_email_authentications (user_session_id)
  where user_session_id is not null;
