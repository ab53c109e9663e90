-- expand

-- Private addresses that sent forwarding headers to a process without being trusted, for the doctor.
alter table queue_workers add column untrusted_proxies text[] not null default '{}';
