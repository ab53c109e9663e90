-- expand
-- What people have allowed an application is shown to them, and so has a name. The default is for rows that the version
-- before inserts.
alter table oauth2_consents
  add column id uuid not null default gen_random_uuid(),
  add constraint oauth2_consents_id_key unique (id);
update oauth2_consents
   set id = (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0')
         || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid;
