-- expand
-- An attempt to prove a further address of an account belongs to the browser session that began it.

alter table user_email_authentications add column user_session_id uuid
  references user_sessions (id) on delete cascade;
