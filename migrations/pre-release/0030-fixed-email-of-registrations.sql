-- expand
-- A registration through another service whose e-mail address the person cannot replace.

alter table user_registrations add column has_fixed_email boolean not null default false;
