-- expand
-- Which root keys a process has, as check values, the one that it seals with first: a new key seals once all can open it.

alter table queue_workers add column root_keys bytea[];
