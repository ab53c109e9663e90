-- expand
-- Resource servers (RFC 8707) that a person allowed a client to use on their behalf.

alter table oauth2_consents add column resources text[] not null default '{}';
