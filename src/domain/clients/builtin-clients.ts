import type { Config } from '#config/config.ts';
import { clientIsBuiltin, clientIsEnabled } from '#domain/records/liveness/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { MANDATORY_ALGORITHM } from '#protocol/jose/signing-algorithms.ts';
import {
  ADMIN_AREA_CALLBACK,
  ADMIN_AREA_CLIENT_ID,
  ADMIN_AREA_NAME,
  ADMIN_AREA_SCOPE,
} from '#protocol/oauth/builtin-clients.ts';
import { canonicalJson } from './canonical-json.ts';
import type { ClientMetadata } from './client.ts';

export interface BuiltinClientDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

/**
 * Stores the client of the admin area as this version defines it, or disables it with `admin_area.enabled: false`. If
 * it is up to date, it only reads one row. Instances that start at the same time write the same.
 */
export async function syncBuiltinClient(
  { database, clock }: BuiltinClientDeps,
  { adminArea, http }: Pick<Config, 'adminArea' | 'http'>,
): Promise<void> {
  const id = toUuid(ADMIN_AREA_CLIENT_ID);
  const metadata = adminAreaMetadata(http.publicBase);
  const stored = await database.first(findBuiltinClient, { id });
  const isSame =
    stored?.is_builtin === true &&
    stored.is_enabled === adminArea.enabled &&
    canonicalJson(stored.metadata) === canonicalJson(metadata);
  if (isSame || (stored === undefined && !adminArea.enabled)) return;
  await database.execute(upsertBuiltinClient, {
    id,
    metadata: JSON.stringify(metadata),
    isEnabled: adminArea.enabled,
    now: new Date(clock.now()),
  });
}

function adminAreaMetadata(publicBase: string): ClientMetadata {
  return {
    client_name: { '': ADMIN_AREA_NAME },
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    redirect_uris: [publicBase + ADMIN_AREA_CALLBACK],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    id_token_signed_response_alg: MANDATORY_ALGORITHM,
    scope: ADMIN_AREA_SCOPE,
  };
}

interface BuiltinClientRow {
  readonly is_builtin: boolean;
  readonly is_enabled: boolean;
  readonly metadata: ClientMetadata;
}

/** Uses the primary key. */
const findBuiltinClient = statement<BuiltinClientRow, { readonly id: string }>(
  'builtin-client',
  `select ${clientIsBuiltin('c')} as is_builtin, ${clientIsEnabled('c')} as is_enabled, c.metadata
     from oauth2_clients c where c.id = :id::uuid`,
);

const upsertBuiltinClient = statement<
  never,
  { readonly id: string; readonly metadata: string; readonly isEnabled: boolean; readonly now: Date }
>(
  'upsert-builtin-client',
  `insert into oauth2_clients (id, is_static, kind, metadata, created_at, disabled_at)
   values (:id::uuid, false, 'builtin', :metadata::jsonb, :now::timestamptz,
           case when not :isEnabled::boolean then :now::timestamptz end)
   on conflict (id) do update
      set is_static = false,
          kind = 'builtin',
          version = oauth2_clients.version + 1,
          metadata = excluded.metadata,
          disabled_at = excluded.disabled_at`,
);
