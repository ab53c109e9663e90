-- expand
-- What a Synapse knew of people and nothing here uses: phone numbers, and e-mail addresses that no account can have.
-- Kept for what comes later, and shown to nobody.

create table user_unsupported_threepids (
  user_id uuid not null references users (id) on delete cascade,
  medium text not null,
  address text not null,
  created_at timestamptz not null,
  primary key (user_id, medium, address)
);
comment on table user_unsupported_threepids is 'third-party ids that were imported and that nothing uses';

-- They cannot exist any more: imported ones only.
alter table users add column is_guest boolean not null default false;
