-- expand
-- E-mail addresses that people say are theirs, and prove by a code that is mailed there; and the one of a registration.

create table user_email_authentications (
  id uuid primary key,
  email text not null,
  email_key text not null,
  -- language of the mails
  locale text not null,
  created_at timestamptz not null,
  -- mails asked for; only the code of the last one counts
  mails integer not null,
  -- which of them has a code, and until when it works. The code follows from both numbers under a key of the service
  code_of_mail integer,
  code_expires_at timestamptz,
  -- codes that were entered, whatever became of them
  tries integer not null default 0,
  completed_at timestamptz
);
create index user_email_authentications_created_at on user_email_authentications (created_at);
comment on table user_email_authentications is 'attempts to prove an e-mail address by a code';

alter table user_registrations
  add column email_authentication_id uuid references user_email_authentications (id) on delete set null;
create index user_registrations_email_authentication on user_registrations (email_authentication_id)
  where email_authentication_id is not null;
