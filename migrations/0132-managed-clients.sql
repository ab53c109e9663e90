-- expand

-- Clients that administrators create (`kind` is `managed`). The secret before the last rotation works until it expires.
alter table oauth2_clients add column preset text;
alter table oauth2_clients add column updated_at timestamptz;
alter table oauth2_clients add column secret_created_at timestamptz;
alter table oauth2_clients add column secret_last_used_at timestamptz;
alter table oauth2_clients add column former_secret_sealed bytea;
alter table oauth2_clients add column former_secret_created_at timestamptz;
alter table oauth2_clients add column former_secret_last_used_at timestamptz;
alter table oauth2_clients add column former_secret_expires_at timestamptz;
