-- expand
-- One address may leave so many pushed requests unused, as it may authorization requests. Null: not counted.

alter table oauth2_pushed_requests add column requester_ip inet;
-- the table holds the requests of some minutes
create index oauth2_pushed_requests_unused on oauth2_pushed_requests (requester_ip, expires_at)
  where consumed_at is null and requester_ip is not null;
