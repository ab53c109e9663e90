-- expand
-- The address of an account that its user chose for applications. At most one; without any it is the oldest, which
-- applications got until now.
alter table user_emails add column is_primary boolean default false not null;
