-- expand

-- As the configuration has them; rows are never deleted, since links refer to them.
create table upstream_providers (
  id uuid primary key,
  issuer text,
  human_name text,
  client_id text not null,
  ui_order integer not null,
  created_at timestamptz not null,
  -- Switched off, or no longer in the configuration.
  disabled_at timestamptz,
  -- The published document, as far as it is used, for all instances.
  metadata jsonb,
  metadata_fetched_at timestamptz
);

create index upstream_providers_enabled on upstream_providers (id) where disabled_at is null;

create table upstream_links (
  id uuid primary key,
  provider_id uuid not null references upstream_providers on delete cascade,
  subject text not null,
  -- Null until a person has decided.
  user_id uuid references users on delete cascade,
  human_account_name text,
  created_at timestamptz not null,
  unique (provider_id, subject)
);
create index upstream_links_user on upstream_links (user_id, provider_id) where user_id is not null;
create index upstream_links_unowned on upstream_links (created_at) where user_id is null;

create table upstream_authorizations (
  id uuid primary key,
  provider_id uuid not null references upstream_providers on delete cascade,
  state_hash bytea not null unique,
  -- Nonce and PKCE verifier.
  secrets_sealed bytea not null,
  created_at timestamptz not null,
  -- An answer came: it is the only one that counts.
  received_at timestamptz,
  completed_at timestamptz,
  link_id uuid references upstream_links on delete cascade,
  -- What the provider said of the person.
  answer_sealed bytea,
  sid text,
  consumed_at timestamptz,
  -- The browser session that came of it, or that it renewed.
  user_session_id uuid references user_sessions on delete cascade
);
create index upstream_authorizations_created_at on upstream_authorizations (created_at, id);
create index upstream_authorizations_link on upstream_authorizations (link_id) where link_id is not null;
create index upstream_authorizations_session on upstream_authorizations (user_session_id) where user_session_id is not null;

comment on table upstream_providers is 'other services that people may sign in with';
comment on table upstream_links is 'which account a subject of such a service belongs to';
comment on table upstream_authorizations is 'attempts to sign in through such a service';
