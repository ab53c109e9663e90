-- expand
-- When the homeserver took it that an account is deactivated, and that it is erased; null: it has not, since the account
-- was deactivated last. Of accounts that were deactivated before, that is not known.
alter table users add column homeserver_deactivated_at timestamptz;
alter table users add column homeserver_erased_at timestamptz;
