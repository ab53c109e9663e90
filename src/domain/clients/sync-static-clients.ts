import type { StaticClientConfig } from '#config/config.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { redirectTarget } from './client-name.ts';
import { type ClientMetadata, type ClientRow, type Localised, openSecret, sealSecret } from './client-row.ts';
import { forgetConsentsOfClient } from './consents/forget-consents.ts';
import { findStaticClients } from './lookups.ts';
import { lockConfigSync, upsertStaticClient } from './writes.ts';

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
  database: Database,
  configuredClients: readonly StaticClientConfig[],
  keys: KeyRing,
  clock: Clock,
  log: Log,
): Promise<ClientSync> {
  const wanted = configuredClients.map(wantedClient);
  let comparison = await compare(database, wanted, keys);
  if (comparison.missing.length + comparison.changed.length > 0) {
    comparison = await database.transaction(async (transaction) => {
      await transaction.execute(lockConfigSync, {});
      const current = await compare(transaction, wanted, keys);
      for (const client of [...current.missing, ...current.changed]) {
        const sealed = client.secret === undefined ? null : sealSecret(client.uuid, client.secret, keys);
        const metadata = JSON.stringify(client.metadata);
        await transaction.execute(upsertStaticClient, {
          id: client.uuid,
          clientSecretSealed: sealed,
          metadata,
          now: new Date(clock.now()),
        });
      }
      for (const client of current.changed) await endWhatNoLongerHolds(transaction, client, clock.now());
      return current;
    });
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

/** Consents to a client that looked otherwise, and grants that wait for an address it no longer has. */
async function endWhatNoLongerHolds(transaction: Queryable, client: ChangedClient, now: number): Promise<void> {
  const id = fromUuid<'client'>(client.uuid);
  if (shownOnConsentPage(client.metadata) !== shownOnConsentPage(client.former)) {
    await forgetConsentsOfClient(transaction, id);
  }
  const { redirect_uris, token_endpoint_auth_method } = client.metadata;
  const owner = { redirectUris: redirect_uris, isPublic: token_endpoint_auth_method === 'none' };
  await cancelGrantsOutsideRedirectUris(transaction, id, owner, now);
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
      response_types: configured.grantTypes.includes('authorization_code') ? ['code'] : [],
      id_token_signed_response_alg: configured.idTokenSignedResponseAlg,
      require_auth_time: configured.requireAuthTime,
      first_party: configured.firstParty,
      id_token_claims: configured.idTokenClaims,
      strict_auth_method: configured.strictAuthMethod,
      ...untagged('client_name', configured.clientName),
      ...untagged('client_uri', configured.clientUri),
      ...untagged('policy_uri', configured.policyUri),
      ...untagged('tos_uri', configured.tosUri),
      ...(configured.scope === undefined ? {} : { scope: configured.scope.join(' ') }),
      ...(configured.defaultMaxAgeSeconds === undefined ? {} : { default_max_age: configured.defaultMaxAgeSeconds }),
    },
  };
}

function untagged<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, Localised>> {
  const field: Partial<Record<Name, Localised>> = {};
  if (value !== undefined) field[name] = { '': value };
  return field;
}

/** JSON with sorted members, since `jsonb` keeps no order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
