import type { Limiter } from '#config/sections/rate-limiting.ts';
import type { Client } from '#domain/clients/client.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { awaitLimitCheck, secondsPerToken } from '#domain/limits/rate-limits.ts';
import { pushedRequestIsUnused } from '#domain/records/liveness/authorizations.ts';
import { clientWithIdIsCurrent } from '#domain/records/liveness/clients.ts';
import { toUuid } from '#platform/base/ids.ts';
import { addressKey, addressKeyAsInet } from '#platform/base/ip-address.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { PUSHED_REQUEST_SECONDS, type PushedParameters } from './pushed-request.ts';

/**
 * Limits of unused requests per IP address within the last hour (security 3.10, S-95). They apply to clients without
 * authentication and to dynamic clients. A static client that authenticates is limited only by its rate limit.
 */
const MAX_UNUSED_UNVERIFIED = 100;
const MAX_UNUSED_REGISTERED = 1000;
const UNUSED_SECONDS = 3600;

export interface PushRequestDeps {
  readonly database: Queryable;
  /** `rate_limiting.par.per_client`. */
  readonly limiter: Limiter;
}

export interface NewPushedRequest {
  readonly client: Client;
  readonly parameters: PushedParameters;
  /** Whether the parameters came in a signed request object. */
  readonly isSigned: boolean;
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type PushOutcome =
  | { readonly ok: true; readonly reference: string }
  | { readonly ok: false; readonly reason: 'client-changed' }
  /** `rate-limited`: the limit of the client. `too-many-unused`: the limit of the IP address. */
  | {
      readonly ok: false;
      readonly reason: 'rate-limited' | 'too-many-unused';
      readonly retryAfterSeconds: number;
    };

/**
 * Stores a request under a new reference of 43 base64url characters, stored only as SHA-256. Uses one statement, which
 * also charges the client's rate limit. For clients without authentication the limit is per IP address: anyone can use
 * their public `client_id`, but exhausts the limit only for their own address.
 */
export async function pushRequest(deps: PushRequestDeps, request: NewPushedRequest): Promise<PushOutcome> {
  const { client, now } = request;
  const reference = randomBase64Url();
  const isVerified = client.authMethod !== 'none';
  const row = await awaitLimitCheck(
    deps.database.first(insertRequest, {
      requestUriHash: sha256(reference),
      clientId: toUuid(client.id),
      clientVersion: client.version,
      parameters: JSON.stringify(request.parameters),
      isSigned: request.isSigned,
      now: new Date(now),
      expiresAt: new Date(now + PUSHED_REQUEST_SECONDS * 1000),
      requesterIp: isVerified && client.isVouchedFor ? null : addressKeyAsInet(request.address),
      unusedSince: new Date(now - UNUSED_SECONDS * 1000),
      maxUnused: isVerified ? MAX_UNUSED_REGISTERED : MAX_UNUSED_UNVERIFIED,
      limitKey: `par:${client.id}${isVerified ? '' : `:${addressKey(request.address)}`}`,
      burst: deps.limiter.burst,
      seconds: secondsPerToken(deps.limiter),
    }),
  );
  if (row?.is_made === true) return { ok: true, reference };
  if (row?.client_is_current === false) return { ok: false, reason: 'client-changed' };
  const reason = row?.crowded_seconds == null ? 'rate-limited' : 'too-many-unused';
  const seconds = row?.crowded_seconds ?? row?.blocked_seconds ?? secondsPerToken(deps.limiter);
  return { ok: false, reason, retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
}

/**
 * Neither charges the limit nor stores a row if the bucket is empty, the IP address has too many unused requests, or
 * the client has changed. Reads at most `maxUnused` entries of the partial index `oauth2_pushed_requests_unused`.
 */
const insertRequest = statement<
  {
    readonly client_is_current: boolean;
    /** Seconds until one of the address's requests no longer counts; null: below the limit. */
    readonly crowded_seconds: number | null;
    readonly blocked_seconds: number | null;
    readonly is_made: boolean;
  },
  {
    readonly requestUriHash: Buffer;
    readonly clientId: string;
    readonly clientVersion: number;
    readonly parameters: string;
    readonly isSigned: boolean;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly requesterIp: string | null;
    readonly unusedSince: Date;
    readonly maxUnused: number;
    readonly limitKey: string;
    readonly burst: number;
    readonly seconds: number;
  }
>(
  'insert-pushed-request',
  `with crowded as materialized (
    select extract(epoch from min(of_address.expires_at) - :unusedSince::timestamptz)::float8 as seconds
      from (
        select unused.expires_at from oauth2_pushed_requests unused
         where unused.requester_ip = :requesterIp::inet and ${pushedRequestIsUnused('unused', ':unusedSince::timestamptz')}
         limit :maxUnused::integer
      ) as of_address
    having count(*) >= :maxUnused::integer
  ), wanted as materialized (
    select :limitKey::text as key, :burst::float8 as burst, :seconds::float8 as seconds
     where ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} and not exists (select from crowded)
  ), ${chargeCtes(':now::timestamptz')}, made as (
    insert into oauth2_pushed_requests
      (request_uri_hash, client_id, parameters, signed, requester_ip, created_at, expires_at)
    select :requestUriHash::bytea, :clientId::uuid, :parameters::jsonb, :isSigned::boolean, :requesterIp::inet,
           :now::timestamptz, :expiresAt::timestamptz
      from charged
    returning request_uri_hash
  )
  select ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
         (select crowded.seconds from crowded) as crowded_seconds,
         (select blocked.seconds from blocked) as blocked_seconds,
         exists (select from made) as is_made`,
);
