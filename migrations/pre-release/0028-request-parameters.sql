-- expand
-- What an application asked with: kept only while a sign-in provider is to be told of it.
alter table oauth2_authorization_grants add column parameters jsonb;
