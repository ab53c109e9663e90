import type { StaticClientConfig } from '#config/sections/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { type ClientId, fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { RESPONSE_TYPES } from '#protocol/oauth/client-metadata.ts';
import type { Localized } from '#protocol/oauth/metadata-members.ts';
import { type RedirectUriOwner, redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import { canonicalJson } from './canonical-json.ts';
import { type ClientMetadata, type ClientRow, openSecret, sealSecret } from './client.ts';
import { forgetConsentsOfClient } from './consents.ts';

export interface ClientSyncDeps {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  /** Of `domain/authorizations`, which imports this module; called in the transaction that changes the client. */
  cancelGrantsOutsideRedirectUris(
    transaction: Queryable,
    client: ClientId,
    owner: RedirectUriOwner,
    now: number,
  ): Promise<void>;
}

export interface ClientSync {
  readonly added: number;
  readonly updated: number;
  /** Static clients in the database that the configuration no longer names; they stay usable. */
  readonly unlisted: number;
}

interface WantedClient {
  readonly uuid: string;
  readonly secret: string | undefined;
  readonly metadata: ClientMetadata;
}

interface ChangedClient extends WantedClient {
  readonly former: ClientMetadata;
}

interface Comparison {
  readonly missing: readonly WantedClient[];
  readonly changed: readonly ChangedClient[];
  readonly unlisted: number;
}

/**
 * Brings the `clients` of the configuration into the database. An instance whose configuration is there already reads
 * once and takes no lock; the others take turns in one transaction each.
 */
export async function syncStaticClients(
  deps: ClientSyncDeps,
  configuredClients: readonly StaticClientConfig[],
): Promise<ClientSync> {
  const { database, keyRing, log } = deps;
  const wanted = configuredClients.map(wantedClient);
  let comparison = await compare(database, wanted, keyRing);
  if (comparison.missing.length + comparison.changed.length > 0) {
    comparison = await database.transaction((transaction) => storeClients(deps, transaction, wanted));
    log.info('config.sync', 'static clients brought into the database', {
      added: comparison.missing.length,
      updated: comparison.changed.length,
    });
  }
  if (comparison.unlisted > 0) {
    log.warn('config.sync', 'static clients that the configuration no longer names stay usable', {
      clients: comparison.unlisted,
    });
  }
  return { added: comparison.missing.length, updated: comparison.changed.length, unlisted: comparison.unlisted };
}

/** Compares again under the lock, since another instance may have stored the same clients, and stores the rest. */
async function storeClients(
  deps: ClientSyncDeps,
  transaction: Queryable,
  wanted: readonly WantedClient[],
): Promise<Comparison> {
  const { keyRing, clock } = deps;
  await transaction.execute(lockConfigSync, {});
  const comparison = await compare(transaction, wanted, keyRing);
  for (const client of [...comparison.missing, ...comparison.changed]) {
    await transaction.execute(upsertStaticClient, {
      id: client.uuid,
      clientSecretSealed: client.secret === undefined ? null : sealSecret(client.uuid, client.secret, keyRing),
      metadata: JSON.stringify(client.metadata),
      now: new Date(clock.now()),
    });
  }
  for (const client of comparison.changed) await endOutdatedConsentsAndGrants(deps, transaction, client);
  return comparison;
}

async function compare(queryable: Queryable, wanted: readonly WantedClient[], keys: KeyRing): Promise<Comparison> {
  const rows = await queryable.rows(findStaticClients, { configuredIds: wanted.map((client) => client.uuid) });
  const stored = new Map(rows.map((row) => [row.id, row]));
  const names = new Set(wanted.map((client) => client.uuid));
  return {
    missing: wanted.filter((client) => !stored.has(client.uuid)),
    changed: wanted.flatMap((client) => {
      const row = stored.get(client.uuid);
      return row !== undefined && !agrees(client, row, keys) ? [{ ...client, former: row.metadata }] : [];
    }),
    unlisted: rows.filter((row) => row.is_static && !names.has(row.id)).length,
  };
}

/** Consents to a client that looked different, and grants that wait for an address it no longer has. */
async function endOutdatedConsentsAndGrants(
  deps: ClientSyncDeps,
  transaction: Queryable,
  client: ChangedClient,
): Promise<void> {
  const id = fromUuid<'client'>(client.uuid);
  if (shownOnConsentPage(client.metadata) !== shownOnConsentPage(client.former)) {
    await forgetConsentsOfClient(transaction, id);
  }
  const { redirect_uris, token_endpoint_auth_method } = client.metadata;
  const owner = { redirectUris: redirect_uris, isPublic: token_endpoint_auth_method === 'none' };
  await deps.cancelGrantsOutsideRedirectUris(transaction, id, owner, deps.clock.now());
}

/** What people agreed to when they consented to a client (oauth 7.6), for comparison. */
function shownOnConsentPage(metadata: ClientMetadata): string {
  const { client_name, client_uri, policy_uri, tos_uri, redirect_uris } = metadata;
  const host = client_uri?.[''] === undefined ? undefined : redirectTarget(client_uri['']);
  const targets = [...new Set(redirect_uris.map(redirectTarget))].sort();
  return canonicalJson([client_name, host, policy_uri, tos_uri, targets].map((part) => part ?? null));
}

function agrees(wanted: WantedClient, row: ClientRow, keys: KeyRing): boolean {
  if (!row.is_static || canonicalJson(wanted.metadata) !== canonicalJson(row.metadata)) return false;
  if (row.client_secret_sealed === null) return wanted.secret === undefined;
  // A secret that does not open any more is replaced by the configured one rather than stopping the start.
  return opensTo(wanted.secret, row.id, row.client_secret_sealed, keys);
}

function opensTo(secret: string | undefined, uuid: string, sealed: Buffer, keys: KeyRing): boolean {
  try {
    return openSecret(uuid, sealed, keys).reveal() === secret;
  } catch {
    return false;
  }
}

function wantedClient(configured: StaticClientConfig): WantedClient {
  return {
    uuid: toUuid(configured.clientId),
    secret: configured.clientSecret?.reveal(),
    metadata: {
      token_endpoint_auth_method: configured.clientAuthMethod,
      redirect_uris: configured.redirectUris,
      grant_types: configured.grantTypes,
      response_types: configured.grantTypes.includes('authorization_code') ? RESPONSE_TYPES : [],
      id_token_signed_response_alg: configured.idTokenSignedResponseAlg,
      introspection_signed_response_alg: configured.introspectionSignedResponseAlg,
      require_auth_time: configured.requireAuthTime,
      first_party: configured.firstParty,
      id_token_claims: configured.idTokenClaims,
      strict_auth_method: configured.strictAuthMethod,
      ...(configured.userinfoSignedResponseAlg === undefined
        ? {}
        : { userinfo_signed_response_alg: configured.userinfoSignedResponseAlg }),
      ...untagged('client_name', configured.clientName),
      ...untagged('client_uri', configured.clientUri),
      ...untagged('policy_uri', configured.policyUri),
      ...untagged('tos_uri', configured.tosUri),
      ...(configured.postLogoutRedirectUris.length === 0
        ? {}
        : { post_logout_redirect_uris: configured.postLogoutRedirectUris }),
      ...(configured.scope === undefined ? {} : { scope: configured.scope.join(' ') }),
      ...(configured.requirePushedAuthorizationRequests && { require_pushed_authorization_requests: true }),
      ...(configured.defaultMaxAgeSeconds === undefined ? {} : { default_max_age: configured.defaultMaxAgeSeconds }),
    },
  };
}

function untagged<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, Localized>> {
  const field: Partial<Record<Name, Localized>> = {};
  if (value !== undefined) field[name] = { '': value };
  return field;
}

/** The clients of the configuration, and those that it is about to take over; partial index and primary key. */
const findStaticClients = statement<ClientRow, { readonly configuredIds: readonly string[] }>(
  'static-clients',
  `select id, is_static, version, client_secret_sealed, metadata
     from oauth2_clients
    where is_static or id = any(:configuredIds::uuid[])`,
);

/** Instances that start together take turns. */
const lockConfigSync = statement<never, NoParameters>(
  'lock-config-sync',
  `select pg_advisory_xact_lock(hashtextextended('latchkey:config-sync', 0)) is null as locked`,
);

/** A dynamic client of the same id becomes a static one and loses what only dynamic ones have. */
const upsertStaticClient = statement<
  never,
  { readonly id: string; readonly clientSecretSealed: Buffer | null; readonly metadata: string; readonly now: Date }
>(
  'upsert-static-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at)
   values (:id::uuid, true, :clientSecretSealed::bytea, :metadata::jsonb, :now::timestamptz)
   on conflict (id) do update
      set is_static = true,
          version = oauth2_clients.version + 1,
          client_secret_sealed = excluded.client_secret_sealed,
          registration_token_hash = null,
          metadata_digest = null,
          metadata = excluded.metadata`,
);
