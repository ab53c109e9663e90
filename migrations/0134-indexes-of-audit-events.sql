-- expand concurrently
-- Lists of administrators: by kind, application, address and administrator. Ids sort by time.
create index concurrently audit_events_of_kind on audit_events (kind, id);
create index concurrently audit_events_of_client on audit_events (client_id, id) where client_id is not null;
create index concurrently audit_events_from_address on audit_events (ip, id) where ip is not null;
create index concurrently audit_events_of_admin on audit_events ((detail ->> 'admin'), id)
  where detail ->> 'admin' is not null;
