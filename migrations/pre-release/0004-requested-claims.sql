-- expand

-- One of acr_values has to be reached, rather than be preferred.
alter table oauth2_authorization_grants add column acr_essential boolean not null default false;

-- Claims that a client asked for one by one and that were consented to: {"id_token": [...], "userinfo": [...]}.
alter table oauth2_sessions add column claims jsonb;
