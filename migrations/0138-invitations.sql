-- expand

-- Invitations are registration tokens for one address, with groups that the account joins.
alter table user_registration_tokens add column email text;
alter table user_registration_tokens add column email_key text;
alter table user_registration_tokens add column group_ids uuid[];
-- For administrators only.
alter table user_registration_tokens add column note text;
-- The administrator and the client that created the token; both null: an operator at the command line.
alter table user_registration_tokens add column created_by uuid;
alter table user_registration_tokens add column created_by_client uuid;
-- When the invitation was last queued. The mailed link proves the address only with this time, so that a later email
-- replaces the link of an earlier one.
alter table user_registration_tokens add column mail_queued_at timestamptz;
alter table user_registration_tokens add column mail_sent_at timestamptz;

-- Accounts that were created with a registration token.
create table user_registration_token_uses (
  token_id uuid not null references user_registration_tokens (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  used_at timestamptz not null,
  primary key (token_id, user_id)
);
create index user_registration_token_uses_user on user_registration_token_uses (user_id);
