import type { StaticClientConfig } from '#config/sections/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database, Queryable, Transaction } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type GroupFinder, isLimitedTo, type LimitRow, limitColumnsSql, uuidsOf } from './allowed-groups.ts';
import { canonicalJson } from './canonical-json.ts';
import { type ClientMetadata, type ClientRow, clientColumns, openSecret, sealSecret } from './client.ts';
import { metadataOf } from './client-properties.ts';
import { deleteClient, type SessionEnder } from './delete-client.ts';
import { endOutdatedConsentsAndGrants, type GrantCanceller } from './outdated-consents.ts';

export interface ClientSyncDeps extends GrantCanceller, GroupFinder, SessionEnder {
  /** If this is a transaction, everything happens in it; otherwise a new one is opened. */
  readonly database: Database | Transaction;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

export interface ClientSyncOptions {
  /** Whether to delete clients that are no longer configured, including their sessions. */
  readonly prunes: boolean;
  /** Whether to only return the changes without making them. */
  readonly isDryRun: boolean;
}

export type ClientSyncAction =
  | { readonly action: 'add'; readonly id: ClientId }
  /** Names of the changed metadata. `allowed_groups`, `client_secret` and `is_static` denote the separate columns. */
  | { readonly action: 'update'; readonly id: ClientId; readonly changes: readonly string[] }
  | { readonly action: 'delete'; readonly id: ClientId };

export interface ClientSync {
  readonly actions: readonly ClientSyncAction[];
  /** Number of static clients that are no longer configured, but remain usable. */
  readonly unlisted: number;
}

interface WantedClient {
  readonly uuid: string;
  readonly secret: string | undefined;
  readonly metadata: ClientMetadata;
  /** Names. */
  readonly groups: readonly string[];
}

interface ChangedClient extends WantedClient {
  readonly former: ClientMetadata;
  readonly changes: readonly string[];
}

interface Comparison {
  readonly missing: readonly WantedClient[];
  readonly changed: readonly ChangedClient[];
  readonly unlisted: readonly string[];
}

const AT_START: ClientSyncOptions = { prunes: false, isDryRun: false };

/**
 * Stores the `clients` of the configuration in the database. If they are already up to date, it reads once and takes no
 * lock. Otherwise instances take turns, one transaction each.
 * @throws ExitError 78 if an administrator has created a client with one of these IDs
 */
export async function syncStaticClients(
  deps: ClientSyncDeps,
  configuredClients: readonly StaticClientConfig[],
  options = AT_START,
): Promise<ClientSync> {
  const { database, keyRing } = deps;
  const wanted = configuredClients.map(wantedClient);
  let comparison = await compare(database, wanted, keyRing);
  if (actionsOf(comparison, options).length > 0 && !options.isDryRun) {
    const store = (transaction: Transaction) => storeClients(deps, transaction, wanted, options);
    comparison = await (database.isTransaction ? store(database) : database.transaction(store, { isRepeatable: true }));
  }
  return { actions: actionsOf(comparison, options), unlisted: options.prunes ? 0 : comparison.unlisted.length };
}

function actionsOf({ missing, changed, unlisted }: Comparison, { prunes }: ClientSyncOptions): ClientSyncAction[] {
  return [
    ...missing.map(({ uuid }) => ({ action: 'add', id: fromUuid<'client'>(uuid) }) as const),
    ...changed.map(({ uuid, changes }) => ({ action: 'update', id: fromUuid<'client'>(uuid), changes }) as const),
    ...(prunes ? unlisted : []).map((uuid) => ({ action: 'delete', id: fromUuid<'client'>(uuid) }) as const),
  ];
}

/** Compares once more under the lock, because another instance may have stored the clients. Stores the differences. */
async function storeClients(
  deps: ClientSyncDeps,
  transaction: Transaction,
  wanted: readonly WantedClient[],
  { prunes }: ClientSyncOptions,
): Promise<Comparison> {
  const { keyRing, clock } = deps;
  const now = clock.now();
  await transaction.execute(lockConfigSync, {});
  const comparison = await compare(transaction, wanted, keyRing);
  for (const client of [...comparison.missing, ...comparison.changed]) {
    // A group that is being deleted has no members. The next start creates it again.
    const groups = await deps.findOrCreateGroups(transaction, client.groups, now);
    await transaction.execute(upsertStaticClient, {
      id: client.uuid,
      clientSecretSealed: client.secret === undefined ? null : sealSecret(client.uuid, client.secret, keyRing),
      metadata: JSON.stringify(client.metadata),
      allowedGroups: client.groups.length === 0 ? null : uuidsOf(groups),
      now: new Date(now),
    });
  }
  for (const { uuid, former, metadata } of comparison.changed) {
    await endOutdatedConsentsAndGrants(deps, transaction, { id: fromUuid(uuid), former, metadata, now });
  }
  if (prunes) for (const uuid of comparison.unlisted) await deleteClient(deps, transaction, fromUuid(uuid), { now });
  return comparison;
}

async function compare(queryable: Queryable, wanted: readonly WantedClient[], keys: KeyRing): Promise<Comparison> {
  const rows = await queryable.rows(findStaticClients, { configuredIds: wanted.map((client) => client.uuid) });
  const stored = new Map(rows.map((row) => [row.id, row]));
  refuseManaged(wanted, stored);
  const names = new Set(wanted.map((client) => client.uuid));
  return {
    missing: wanted.filter((client) => !stored.has(client.uuid)),
    changed: wanted.flatMap((client) => {
      const row = stored.get(client.uuid);
      const changes = row === undefined ? [] : differences(client, row, keys);
      return row === undefined || changes.length === 0 ? [] : [{ ...client, former: row.metadata, changes }];
    }),
    unlisted: rows.filter((row) => row.is_static && !names.has(row.id)).map((row) => row.id),
  };
}

/** Otherwise the configuration would silently take over what an administrator created, or the reverse. */
function refuseManaged(wanted: readonly WantedClient[], stored: ReadonlyMap<string, ClientRow>): void {
  for (const [index, { uuid }] of wanted.entries()) {
    const row = stored.get(uuid);
    if (row === undefined || row.kind === null) continue;
    const name = row.metadata.client_name?.[''];
    const other = `${row.kind} client${name === undefined ? '' : ` ${JSON.stringify(name)}`}`;
    throw new ExitError(
      ExitCode.config,
      `clients[${index}].client_id: "${fromUuid(uuid)}" is also the id of the ${other}; delete one of them, or choose another id`,
    );
  }
}

function differences(wanted: WantedClient, row: StaticRow, keys: KeyRing): string[] {
  const [after, before] = [new Map(Object.entries(wanted.metadata)), new Map(Object.entries(row.metadata))];
  const names = [...new Set([...after.keys(), ...before.keys()])].sort();
  const changes = names.filter(
    (name) => canonicalJson(after.get(name) ?? null) !== canonicalJson(before.get(name) ?? null),
  );
  if (!isLimitedTo(row, wanted.groups)) changes.unshift('allowed_groups');
  if (!hasSecret(wanted.secret, row, keys)) changes.unshift('client_secret');
  if (!row.is_static) changes.unshift('is_static');
  return changes;
}

/** A stored secret that cannot be decrypted is replaced by the configured one, so that the service can start. */
function hasSecret(secret: string | undefined, row: ClientRow, keys: KeyRing): boolean {
  if (row.client_secret_sealed === null) return secret === undefined;
  try {
    return openSecret(row.id, row.client_secret_sealed, keys).reveal() === secret;
  } catch {
    return false;
  }
}

function wantedClient(configured: StaticClientConfig): WantedClient {
  return {
    uuid: toUuid(configured.clientId),
    secret: configured.clientSecret?.reveal(),
    metadata: metadataOf(configured),
    groups: configured.allowedGroups,
  };
}

/**
 * Reads the static clients, and dynamic ones that are about to become static. Uses a partial index and the primary key.
 */
type StaticRow = ClientRow & LimitRow;

const findStaticClients = statement<StaticRow, { readonly configuredIds: readonly string[] }>(
  'static-clients',
  `select ${clientColumns('oauth2_clients')}, ${limitColumnsSql('oauth2_clients')}
     from oauth2_clients
    where is_static or id = any(:configuredIds::uuid[])`,
);

/** Serializes instances that start at the same time. */
const lockConfigSync = statement<never, NoParameters>(
  'lock-config-sync',
  `select pg_advisory_xact_lock(hashtextextended('latchkey:config-sync', 0)) is null as locked`,
);

/** A dynamic client with the same ID becomes static and loses the columns of dynamic clients. */
const upsertStaticClient = statement<
  never,
  {
    readonly id: string;
    readonly clientSecretSealed: Buffer | null;
    readonly metadata: string;
    readonly allowedGroups: readonly string[] | null;
    readonly now: Date;
  }
>(
  'upsert-static-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, allowed_groups, created_at)
   values (:id::uuid, true, :clientSecretSealed::bytea, :metadata::jsonb, :allowedGroups::uuid[], :now::timestamptz)
   on conflict (id) do update
      set is_static = true,
          version = oauth2_clients.version + 1,
          client_secret_sealed = excluded.client_secret_sealed,
          registration_token_hash = null,
          metadata_digest = null,
          document_url = null,
          document_fresh_until = null,
          metadata = excluded.metadata,
          allowed_groups = excluded.allowed_groups`,
);
