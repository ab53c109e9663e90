-- expand
-- the identity at another service that the account gets with the last factor; null: none
alter table user_pending_logins add column link_on_completion jsonb;
