-- expand

-- The `sub` of the ID token, by which the provider names the person when it signs them out; a template may have made
-- another subject of the link from it.
alter table upstream_authorizations add column sub text;

comment on column upstream_authorizations.sub is 'sub of the ID token; null when there was none';
