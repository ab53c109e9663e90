-- expand
-- Groups that administrators put people into, and claims about them that this service gives on as they are; null: none.
-- Groups that a provider named stay with the identity there, which may belong to nobody.
alter table users add column groups text[];
alter table users add column claims jsonb;
alter table upstream_links add column groups text[];
