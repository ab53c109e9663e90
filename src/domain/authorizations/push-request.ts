import type { Limiter } from '#config/sections/rate-limiting.ts';
import type { Client } from '#domain/clients/client.ts';
import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import { chargeCtes } from '#domain/rate-limits/charge-sql.ts';
import { awaitLimitCheck, secondsPerToken } from '#domain/rate-limits/rate-limits.ts';
import { toUuid } from '#platform/base/ids.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { PUSHED_REQUEST_SECONDS, type PushedParameters } from './pushed-request.ts';

export interface PushRequestDeps {
  readonly database: Queryable;
  /** `rate_limiting.par.per_client`. */
  readonly limiter: Limiter;
}

export interface NewPushedRequest {
  readonly client: Client;
  readonly parameters: PushedParameters;
  /** They came in a request object of the client. */
  readonly isSigned: boolean;
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type PushOutcome =
  | { readonly ok: true; readonly reference: string }
  | { readonly ok: false; readonly reason: 'client-changed' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/**
 * Stores a request under a new reference of 43 base64url characters, of which only the SHA-256 is kept. One statement,
 * which also charges the limit of the client. The id of a client without a secret is no secret either: whoever uses it
 * to exhaust the limit does so for their own address only.
 */
export async function pushRequest(deps: PushRequestDeps, request: NewPushedRequest): Promise<PushOutcome> {
  const { client, now } = request;
  const reference = randomBase64Url();
  const row = await awaitLimitCheck(
    deps.database.first(insertRequest, {
      requestUriHash: sha256(reference),
      clientId: toUuid(client.id),
      clientVersion: client.version,
      parameters: JSON.stringify(request.parameters),
      isSigned: request.isSigned,
      now: new Date(now),
      expiresAt: new Date(now + PUSHED_REQUEST_SECONDS * 1000),
      limitKey: `par:${client.id}${client.authMethod === 'none' ? `:${addressKey(request.address)}` : ''}`,
      burst: deps.limiter.burst,
      seconds: secondsPerToken(deps.limiter),
    }),
  );
  if (row?.is_made === true) return { ok: true, reference };
  if (row?.client_is_current === false) return { ok: false, reason: 'client-changed' };
  const seconds = row?.blocked_seconds ?? secondsPerToken(deps.limiter);
  return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
}

/** Neither a token is taken nor a row made when the bucket is empty or the client has changed. */
const insertRequest = statement<
  { readonly client_is_current: boolean; readonly blocked_seconds: number | null; readonly is_made: boolean },
  {
    readonly requestUriHash: Buffer;
    readonly clientId: string;
    readonly clientVersion: number;
    readonly parameters: string;
    readonly isSigned: boolean;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly limitKey: string;
    readonly burst: number;
    readonly seconds: number;
  }
>(
  'insert-pushed-request',
  `with wanted as materialized (
    select :limitKey::text as key, :burst::float8 as burst, :seconds::float8 as seconds
     where ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')}
  ), ${chargeCtes(':now::timestamptz')}, made as (
    insert into oauth2_pushed_requests (request_uri_hash, client_id, parameters, signed, created_at, expires_at)
    select :requestUriHash::bytea, :clientId::uuid, :parameters::jsonb, :isSigned::boolean, :now::timestamptz, :expiresAt::timestamptz
      from charged
    returning request_uri_hash
  )
  select ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
         (select blocked.seconds from blocked) as blocked_seconds,
         exists (select from made) as is_made`,
);
