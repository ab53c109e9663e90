-- expand
-- Access tokens that are bound to a key of their client (RFC 9449): the thumbprint of that key.

alter table oauth2_access_tokens add column dpop_jkt text;
