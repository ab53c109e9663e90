import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamAuthorizationId } from '#vocabulary/ids.ts';
import { type AuthorizationSecrets, openAuthorizationSecrets } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/** How long a user may take at the provider. */
const PENDING_MS = 10 * 60_000;

export interface ReceiveDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

export type ReceivedResponse =
  | { readonly ok: true; readonly secrets: AuthorizationSecrets }
  | { readonly ok: false; readonly reason: 'missing' | 'used' | 'expired' };

/**
 * Accepts the only response that an authorization may have. Of two concurrent responses, on any instances, one is
 * accepted. The other causes no request to the provider.
 */
export async function receiveResponse(
  { database, clock, keyRing }: ReceiveDeps,
  response: { readonly id: UpstreamAuthorizationId; readonly provider: UpstreamProvider; readonly state: string },
): Promise<ReceivedResponse> {
  const now = clock.now();
  const row = await database.first(takeAuthorization, {
    id: toUuid(response.id),
    providerId: toUuid(response.provider.id),
    stateHash: sha256(response.state),
    now: new Date(now),
    begunAfter: new Date(now - PENDING_MS),
  });
  if (row === undefined) return { ok: false, reason: 'missing' };
  if (row.secrets_sealed !== null) {
    return { ok: true, secrets: openAuthorizationSecrets(keyRing, response.id, row.secrets_sealed) };
  }
  return { ok: false, reason: row.is_expired && !row.is_received ? 'expired' : 'used' };
}

/** Uses the primary key. `secrets_sealed` is null if another request was first. */
const takeAuthorization = statement<
  { secrets_sealed: Buffer | null; is_expired: boolean; is_received: boolean },
  {
    readonly id: string;
    readonly providerId: string;
    readonly stateHash: Buffer;
    readonly now: Date;
    readonly begunAfter: Date;
  }
>(
  'take-upstream-authorization',
  `with taken as (
    update upstream_authorizations set received_at = :now::timestamptz
     where id = :id::uuid and provider_id = :providerId::uuid and state_hash = :stateHash::bytea
       and received_at is null and created_at > :begunAfter::timestamptz
    returning id, secrets_sealed
  )
  select taken.secrets_sealed, a.created_at <= :begunAfter::timestamptz as is_expired,
         a.received_at is not null as is_received
    from upstream_authorizations a left join taken on taken.id = a.id
   where a.id = :id::uuid and a.provider_id = :providerId::uuid and a.state_hash = :stateHash::bytea`,
);
