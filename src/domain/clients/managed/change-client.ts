import { parseClient } from '#config/sections/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type JsonObject, mergePatch } from '#protocol/json-merge-patch.ts';
import { CLIENT_AUTH_METHODS, usesSecret } from '#protocol/oauth/client-metadata.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type GroupFinder, limitClient, parseLimit } from '../allowed-groups.ts';
import { type ClientRefusal, type ClientRow, openSecret, sealSecret } from '../client.ts';
import { differingNames, metadataOf, propertiesOf } from '../client-properties.ts';
import { endOutdatedConsentsAndGrants, type GrantCanceller } from '../outdated-consents.ts';
import { generatedSecret } from './generated-secret.ts';
import { type LockedClient, lockClient } from './locked-client.ts';
import { overriddenBy, overrideClient, type WantedOverrides } from './override-client.ts';

export interface ChangeClientDeps extends GrantCanceller, GroupFinder {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  /** `http.public_base`. */
  readonly publicBase: string;
}

export interface WantedChange {
  /** A merge patch of the properties of a managed client, or of those that dynamic ones have, too. */
  readonly patch: JsonObject;
  /** Versions that the change may be based on. Undefined: the last writer wins. */
  readonly versions: readonly number[] | undefined;
}

export type ClientPatching =
  | {
      readonly ok: true;
      /** Names of the changed properties. */
      readonly changed: readonly string[];
      /** Generated because the new method uses a secret and the client had none. */
      readonly secret: Secret | undefined;
    }
  | Exclude<WantedOverrides, { readonly ok: true }>
  /** Someone else has changed the client since, to this version. */
  | { readonly ok: false; readonly reason: 'outdated'; readonly version: number }
  | { readonly ok: false; readonly reason: ClientRefusal };

const UNCHANGED: ClientPatching = { ok: true, changed: [], secret: undefined };

/**
 * Changes properties of a managed client (RFC 7396), or what users see about a dynamic one and its groups. The caller
 * rolls back unless the change succeeds. Its sessions continue, except that users outside of its groups lose theirs at
 * the next refresh. Consents are forgotten if the consent page changes, and grants whose redirect URI is no longer
 * allowed are cancelled.
 */
export async function changeClient(
  transaction: Transaction,
  deps: ChangeClientDeps,
  id: ClientId,
  { patch: { allowed_groups: groups, ...patch }, versions }: WantedChange,
): Promise<ClientPatching> {
  const locked = await lockClient(transaction, id);
  if (typeof locked === 'string') return { ok: false, reason: locked };
  const wanted = groups === undefined ? undefined : parseLimit(groups);
  if (wanted?.ok === false) return wanted;
  const changed = await changeProperties(transaction, deps, id, locked, { patch, versions });
  if (!changed.ok || wanted === undefined) return changed;
  const limited = await limitClient(transaction, deps, id, locked.row, wanted, deps.clock.now());
  if (!limited.ok) return limited;
  return limited.isChanged ? { ...changed, changed: ['allowed_groups', ...changed.changed] } : changed;
}

async function changeProperties(
  transaction: Transaction,
  { keyRing, clock, publicBase, ...canceller }: ChangeClientDeps,
  id: ClientId,
  { kind, row }: LockedClient,
  { patch, versions }: WantedChange,
): Promise<ClientPatching> {
  const isOutdated = versions?.includes(row.version) === false;
  const outdated = { ok: false, reason: 'outdated', version: row.version } as const;
  if (kind === 'dynamic') {
    const wanted = overriddenBy(row.overrides, patch);
    if (!wanted.ok) return wanted;
    if (isOutdated) return outdated;
    const change = { former: row.overrides, wanted: wanted.overrides, now: clock.now() };
    return { ok: true, changed: await overrideClient(transaction, id, change), secret: undefined };
  }
  const before = propertiesOf(row.metadata);
  const members = mergePatch(before, patch);
  const kept = keptSecret(row, members, keyRing);
  const generated = kept === undefined ? generatedSecret(members) : undefined;
  const secret = kept ?? generated;
  const parsed = parseClient(
    {
      client_id: fromUuid(row.id),
      ...members,
      ...(secret !== undefined && { client_secret: secret.reveal() }),
    },
    publicBase,
  );
  if (!parsed.ok) return { ok: false, reason: 'invalid', problem: parsed };
  // Preconditions come after the other checks of the request (RFC 9110 13.2.1).
  if (isOutdated) return outdated;
  const metadata = metadataOf(parsed.client);
  const changed = differingNames(before, propertiesOf(metadata));
  if (changed.length === 0) return UNCHANGED;
  const now = clock.now();
  const uuid = toUuid(id);
  await transaction.execute(updateClient, {
    id: uuid,
    metadata: JSON.stringify(metadata),
    hasSecret: secret !== undefined,
    newSecretSealed: generated === undefined ? null : sealSecret(uuid, generated.reveal(), keyRing),
    now: new Date(now),
  });
  await endOutdatedConsentsAndGrants(canceller, transaction, { id, former: row.metadata, metadata, now });
  return { ok: true, changed, secret: generated };
}

/** The client keeps its secret unless its method no longer uses one. */
function keptSecret({ id, client_secret_sealed }: ClientRow, members: JsonObject, keys: KeyRing): Secret | undefined {
  const method = CLIENT_AUTH_METHODS.find((known) => known === members['client_auth_method']);
  const isUsed = method !== undefined && usesSecret(method);
  return client_secret_sealed === null || !isUsed ? undefined : openSecret(id, client_secret_sealed, keys);
}

const updateClient = statement<
  never,
  {
    readonly id: string;
    readonly metadata: string;
    readonly hasSecret: boolean;
    readonly newSecretSealed: Buffer | null;
    readonly now: Date;
  }
>(
  'change-managed-client',
  `update oauth2_clients
      set version = version + 1,
          metadata = :metadata::jsonb,
          client_secret_sealed = case when :hasSecret::boolean then coalesce(:newSecretSealed::bytea, client_secret_sealed) end,
          secret_created_at = case when :newSecretSealed::bytea is not null then :now::timestamptz
                                   when :hasSecret::boolean then secret_created_at end,
          secret_last_used_at = case when :hasSecret::boolean and :newSecretSealed::bytea is null then secret_last_used_at end,
          former_secret_sealed = case when :hasSecret::boolean then former_secret_sealed end,
          former_secret_created_at = case when :hasSecret::boolean then former_secret_created_at end,
          former_secret_last_used_at = case when :hasSecret::boolean then former_secret_last_used_at end,
          former_secret_expires_at = case when :hasSecret::boolean then former_secret_expires_at end,
          updated_at = :now::timestamptz
    where id = :id::uuid`,
);
