-- expand
-- People who have lost their password: a session for each request, and a ticket for each mail that went out for it.

create table user_recovery_sessions (
  id uuid primary key,
  -- the address that was typed; whether an account has it is looked up when the mail is sent
  email text not null,
  email_key text not null,
  locale text not null,
  ip inet,
  user_agent text,
  created_at timestamptz not null,
  -- its account was recovered, or it gave way to newer ones
  consumed_at timestamptz
);
create index user_recovery_sessions_created_at on user_recovery_sessions (created_at);
create index user_recovery_sessions_open on user_recovery_sessions (email_key, created_at) where consumed_at is null;
comment on table user_recovery_sessions is 'requests for a new password, for addresses that may be unknown';

create table user_recovery_tickets (
  -- SHA-256 of the ticket in the mail
  ticket_hash bytea primary key,
  session_id uuid not null references user_recovery_sessions (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  -- a ticket is worth nothing once its account has given up the address
  user_email_id uuid not null references user_emails (id) on delete cascade,
  -- the password when the ticket was made; null without one. Another password makes the ticket worthless
  password_id uuid,
  created_at timestamptz not null
);
create index user_recovery_tickets_session_id on user_recovery_tickets (session_id);
create index user_recovery_tickets_user_id on user_recovery_tickets (user_id);
create index user_recovery_tickets_user_email_id on user_recovery_tickets (user_email_id);
