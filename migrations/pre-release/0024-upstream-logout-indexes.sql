-- expand concurrently
-- Sign-ins that a provider wants to end: it names the person, one session of theirs, or both.

create index concurrently upstream_authorizations_sub on upstream_authorizations (provider_id, sub) where sub is not null;
create index concurrently upstream_authorizations_sid on upstream_authorizations (provider_id, sid) where sid is not null;
