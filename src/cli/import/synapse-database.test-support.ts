/** The tables of Synapse that an import reads, in schema version 93, for tests without a Synapse. */
import { Client } from 'pg';
import { createEmptyDatabase } from '#test/support/database.ts';

export interface SynapseDatabase {
  readonly uri: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  drop(): Promise<void>;
}

const SCHEMA = `
  create table users (
    name text unique, password_hash text, creation_ts bigint, admin smallint not null default 0, upgrade_ts bigint,
    is_guest smallint not null default 0, appservice_id text, consent_version text, user_type text,
    deactivated smallint not null default 0, shadow_banned boolean, approved boolean,
    locked boolean not null default false, suspended boolean not null default false);
  create table profiles (user_id text, displayname text, avatar_url text, full_user_id text unique);
  create table user_threepids (
    user_id text not null, medium text not null, address text not null, validated_at bigint not null,
    added_at bigint not null, unique (medium, address));
  create table user_external_ids (
    auth_provider text not null, external_id text not null, user_id text not null, unique (auth_provider, external_id));
  create table devices (
    user_id text not null, device_id text not null, display_name text, last_seen bigint, ip text, user_agent text,
    hidden boolean default false, unique (user_id, device_id));
  create table refresh_tokens (
    id bigint primary key, user_id text not null, device_id text not null, token text not null unique,
    next_token_id bigint references refresh_tokens (id) on delete cascade, expiry_ts bigint,
    ultimate_session_expiry_ts bigint);
  create table access_tokens (
    id bigint primary key, user_id text not null, device_id text, token text not null unique, valid_until_ms bigint,
    puppets_user_id text, last_validated bigint, refresh_token_id bigint references refresh_tokens (id) on delete cascade,
    used boolean)`;

export async function createSynapseDatabase(): Promise<SynapseDatabase> {
  const made = await createEmptyDatabase();
  const client = new Client({ connectionString: made.connectionString });
  await client.connect();
  await client.query(SCHEMA);
  return {
    uri: made.connectionString,
    query: async (text, values = []) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
    drop: async () => {
      await client.end();
      await made.drop();
    },
  };
}
