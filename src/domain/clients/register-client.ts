/**
 * Dynamic client registration (RFC 7591, oauth 4.3, 4.5). One statement charges the caller's rate limit and stores the
 * client, or finds the client that already registered the same metadata.
 */
import type { Limiter } from '#config/sections/rate-limiting.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { addressBucketKey, awaitLimitCheck } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret, sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { RegisteredMetadata } from '#protocol/oauth/registration-request.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { canonicalJson } from './canonical-json.ts';
import { newSecret, sealSecret } from './client.ts';

export interface RegisterClientDeps {
  readonly database: Queryable;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  /** Limit of registrations per IP address. */
  readonly limiter: Limiter;
}

export interface Registration {
  /** The request as received, for comparison with other requests. */
  readonly body: object;
  /** The accepted metadata. */
  readonly metadata: RegisteredMetadata;
  readonly clientAddress: string | undefined;
}

export interface RegisteredClient {
  readonly id: ClientId;
  /** Milliseconds since the epoch; time of the first registration with the same metadata. */
  readonly createdAt: number;
  /** Undefined: a public client or one with a private key. */
  readonly secret: Secret | undefined;
  /** The registration access token; undefined: the record is shared by all clients that register the same metadata. */
  readonly managementToken: Secret | undefined;
  /** Whether the client already existed. */
  readonly isKnown: boolean;
}

export type RegistrationOutcome =
  | { readonly ok: true; readonly client: RegisteredClient }
  /** An operator has disabled the client with this metadata. */
  | { readonly ok: false; readonly reason: 'disabled' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

export async function registerClient(
  deps: RegisterClientDeps,
  registration: Registration,
): Promise<RegistrationOutcome> {
  const { database, keyRing, clock, log, limiter } = deps;
  const { metadata, clientAddress } = registration;
  const now = clock.now();
  const id = newId<'client'>(now);
  const uuid = toUuid(id);
  const secret = newSecret(metadata.token_endpoint_auth_method);
  const managementToken = secret === undefined ? undefined : new Secret(newToken('mgt'));
  const row = await awaitLimitCheck(
    database.first(storeClient, {
      key: `client_registration:ip:${addressBucketKey(log, clientAddress)}`,
      burst: limiter.burst,
      seconds: 1 / limiter.perSecond,
      id: uuid,
      clientSecretSealed: secret === undefined ? null : sealSecret(uuid, secret.reveal(), keyRing),
      registrationTokenHash: managementToken === undefined ? null : sha256(managementToken.reveal()),
      metadataDigest: secret === undefined ? digestOf(registration) : null,
      metadata: JSON.stringify(metadata),
      now: new Date(now),
    }),
  );
  if (row?.id == null || row.created_ms === null) {
    const retryAfterSeconds = Math.ceil(row?.blocked_seconds ?? 1 / limiter.perSecond);
    return { ok: false, reason: 'rate-limited', retryAfterSeconds };
  }
  if (row.is_disabled === true) return { ok: false, reason: 'disabled' };
  const isKnown = row.id !== uuid;
  return { ok: true, client: { id: fromUuid(row.id), createdAt: row.created_ms, secret, managementToken, isKnown } };
}

/** Lists whose order is insignificant. */
const UNORDERED = new Set([
  'contacts',
  'default_acr_values',
  'grant_types',
  'post_logout_redirect_uris',
  'redirect_uris',
  'request_uris',
  'response_types',
]);

/**
 * Returns the same digest for the same metadata in any order (oauth 4.5). The digest also covers the accepted metadata,
 * so that a registration under different rules never gets an older client.
 */
function digestOf({ body, metadata }: Registration): string {
  return sha256(canonicalJson([inOrder(body), inOrder(metadata)])).toString('hex');
}

function inOrder(members: object): object {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]): [string, unknown] => [
      name,
      UNORDERED.has(name) && Array.isArray(value) ? value.toSorted() : value,
    ]),
  );
}

// Conflicts arise on the unique digest; the second of two identical concurrent registrations waits for the first. The
// registration counts as a use, so that cleanup does not delete the client before its first request.
const storeClient = statement<
  { blocked_seconds: number | null; id: string | null; created_ms: number | null; is_disabled: boolean | null },
  {
    readonly key: string;
    readonly burst: number;
    readonly seconds: number;
    readonly id: string;
    readonly clientSecretSealed: Buffer | null;
    readonly registrationTokenHash: Buffer | null;
    readonly metadataDigest: string | null;
    readonly metadata: string;
    readonly now: Date;
  }
>(
  'register-client',
  `with wanted as (
    select :key::text as key, :burst::float8 as burst, :seconds::float8 as seconds
  ),
  ${chargeCtes(':now::timestamptz')},
  stored as (
    insert into oauth2_clients as client (
      id, is_static, client_secret_sealed, registration_token_hash, metadata_digest, metadata, created_at
    )
    select :id::uuid, false, :clientSecretSealed::bytea, :registrationTokenHash::bytea, :metadataDigest::text, :metadata::jsonb, :now::timestamptz
      from charged
    on conflict (metadata_digest) do update
       set last_used_at = greatest(client.last_used_at, excluded.created_at)
    returning client.id, ${ms('client.created_at')} as created_ms, client.disabled_at is not null as is_disabled
  )
  select blocked.seconds as blocked_seconds, stored.id, stored.created_ms, stored.is_disabled
    from blocked left join stored on true`,
);
