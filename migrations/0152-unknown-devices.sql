-- expand
-- Device syncs must not delete devices of the account: the homeserver may have had the user, with devices, before.
alter table users add column keeps_unknown_devices boolean not null default false;
