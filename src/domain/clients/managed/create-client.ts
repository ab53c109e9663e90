import { parseClient } from '#config/sections/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { JsonObject } from '#protocol/json-merge-patch.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { findLimit, type GroupFinder, type MemberProblem } from '../allowed-groups.ts';
import { sealSecret } from '../client.ts';
import { metadataOf } from '../client-properties.ts';
import { generatedSecret } from './generated-secret.ts';

export interface CreateClientDeps extends GroupFinder {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  /** `http.public_base`. */
  readonly publicBase: string;
}

export interface NewClient {
  /** In the notation of `clients[]` in the configuration. Without `client_id`, an ID is generated. */
  readonly members: JsonObject;
  /** The preset that the members come from. */
  readonly preset: string | undefined;
}

export type ClientCreation =
  /** `secret`: the generated secret, if one was generated. */
  | { readonly ok: true; readonly id: ClientId; readonly secret: Secret | undefined }
  | { readonly ok: false; readonly reason: 'invalid'; readonly problem: MemberProblem }
  /** Another client has this ID. */
  | { readonly ok: false; readonly reason: 'exists' };

/**
 * Creates a client with every property that a configured client can have. A confidential client gets a generated
 * secret unless one is given.
 */
export async function createClient(
  transaction: Queryable,
  { keyRing, clock, publicBase, ...finder }: CreateClientDeps,
  { members, preset }: NewClient,
): Promise<ClientCreation> {
  const now = clock.now();
  const generated = members['client_secret'] === undefined ? generatedSecret(members) : undefined;
  const parsed = parseClient(
    {
      client_id: newId(now),
      ...members,
      ...(generated !== undefined && { client_secret: generated.reveal() }),
    },
    publicBase,
  );
  if (!parsed.ok) return { ok: false, reason: 'invalid', problem: parsed };
  const { client } = parsed;
  // Its row is missing while the admin area is disabled.
  if (client.clientId === ADMIN_AREA_CLIENT_ID) return { ok: false, reason: 'exists' };
  const limit = await findLimit(transaction, finder, client.allowedGroups, now);
  if (!limit.ok) return limit;
  const uuid = toUuid(client.clientId);
  const secret = client.clientSecret?.reveal();
  const row = await transaction.first(insertClient, {
    id: uuid,
    clientSecretSealed: secret === undefined ? null : sealSecret(uuid, secret, keyRing),
    metadata: JSON.stringify(metadataOf(client)),
    preset: preset ?? null,
    allowedGroups: limit.ids,
    now: new Date(now),
  });
  return row === undefined ? { ok: false, reason: 'exists' } : { ok: true, id: fromUuid(row.id), secret: generated };
}

/** A client of the configuration that has not been stored yet wins at the next start, which then fails. */
const insertClient = statement<
  { readonly id: string },
  {
    readonly id: string;
    readonly clientSecretSealed: Buffer | null;
    readonly metadata: string;
    readonly preset: string | null;
    readonly allowedGroups: readonly string[] | null;
    readonly now: Date;
  }
>(
  'insert-managed-client',
  `insert into oauth2_clients (
     id, is_static, kind, client_secret_sealed, secret_created_at, metadata, preset, allowed_groups,
     created_at, updated_at
   )
   select :id::uuid, false, 'managed', :clientSecretSealed::bytea,
          case when :clientSecretSealed::bytea is not null then :now::timestamptz end,
          :metadata::jsonb, :preset::text, :allowedGroups::uuid[], :now::timestamptz, :now::timestamptz
   on conflict (id) do nothing
   returning id`,
);
