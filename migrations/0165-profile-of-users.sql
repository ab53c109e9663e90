-- expand

-- What users enter about themselves, for the scope `profile`.
alter table users
  add column given_name text,
  add column family_name text,
  add column time_zone text,
  add column locale_is_chosen boolean not null default false;
comment on column users.time_zone is 'name in the IANA time zone database';
comment on column users.locale_is_chosen is 'the user chose `locale`, so that it no longer follows the pages shown';
