import type { Limiter } from '#config/sections/rate-limiting.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { addressBucket, awaitLimitCheck, secondsPerToken } from '#domain/limits/rate-limits.ts';
import { ssoLoginIsPending } from '#domain/records/liveness/compat-sessions.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { addressKeyAsInet } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompatSsoLoginId, UpstreamProviderId } from '#vocabulary/ids.ts';

/** Limit of pending sign-ons per client address (security 3.10, S-179). */
const MAX_PENDING = 100;

export interface CreateSsoLoginDeps {
  readonly database: Queryable;
  readonly log: Log;
  /** `rate_limiting.sso_redirect.per_ip`. */
  readonly limiter: Limiter;
}

export interface NewSsoLogin {
  readonly redirectUri: string;
  /** Suggested by the client. */
  readonly providerId: UpstreamProviderId | undefined;
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeSeconds: number;
}

export type CreatedSsoLogin =
  | { readonly ok: true; readonly id: CompatSsoLoginId }
  | { readonly ok: false; readonly retryAfterSeconds: number };

/**
 * Stores a pending single sign-on. Anyone can do this, so the same statement charges the rate limit of the IP address.
 * No cookie binds it to the browser, because the request may have used a different host name.
 */
export async function createSsoLogin(deps: CreateSsoLoginDeps, login: NewSsoLogin): Promise<CreatedSsoLogin> {
  const { limiter } = deps;
  const { redirectUri, providerId, address, now, lifetimeSeconds } = login;
  const id = newId<'compat-sso-login'>(now);
  const row = await awaitLimitCheck(
    deps.database.first(insertPending, {
      id: toUuid(id),
      redirectUri,
      providerId: providerId === undefined ? null : toUuid(providerId),
      now: new Date(now),
      expiresAt: new Date(now + lifetimeSeconds * 1000),
      addressKey: addressKeyAsInet(address),
      limit: MAX_PENDING,
      limitKey: addressBucket(deps.log, { name: 'sso-redirect', limiter, address }).key,
      burst: limiter.burst,
      seconds: secondsPerToken(limiter),
    }),
  );
  if (row?.is_created === true) return { ok: true, id };
  const seconds = row?.blocked_seconds ?? row?.full_seconds ?? secondsPerToken(limiter);
  return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
}

/**
 * Charges the limit and stores the sign-on, or does neither. Concurrent requests can exceed the limit of pending
 * sign-ons slightly, which is harmless. Reads at most `limit` entries of the partial index `compat_sso_logins_unused`.
 */
const insertPending = statement<
  {
    readonly is_created: boolean;
    readonly blocked_seconds: number | null;
    /** Seconds until the oldest pending sign-on of the address expires. */
    readonly full_seconds: number | null;
  },
  {
    readonly id: string;
    readonly redirectUri: string;
    readonly providerId: string | null;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly addressKey: string;
    readonly limit: number;
    readonly limitKey: string;
    readonly burst: number;
    readonly seconds: number;
  }
>(
  'create-compat-sso-login',
  `with wanted as materialized (
    select :limitKey::text as key, :burst::float8 as burst, :seconds::float8 as seconds
     where (
       select count(*) from (
         select from compat_sso_logins l
          where l.requester_ip = :addressKey::inet and ${ssoLoginIsPending('l', ':now::timestamptz')}
          limit :limit::integer
       ) as of_address
     ) < :limit::integer
  ), ${chargeCtes(':now::timestamptz')}, created as (
    insert into compat_sso_logins (id, redirect_uri, upstream_provider_id, requester_ip, created_at, expires_at)
    select :id::uuid, :redirectUri::text, :providerId::uuid, :addressKey::inet, :now::timestamptz,
           :expiresAt::timestamptz
      from charged
    returning id
  )
  select exists (select from created) as is_created,
         (select blocked.seconds from blocked) as blocked_seconds,
         case when not exists (select from created) then (
           select extract(epoch from min(l.expires_at) - :now::timestamptz)::float8
             from compat_sso_logins l
            where l.requester_ip = :addressKey::inet and ${ssoLoginIsPending('l', ':now::timestamptz')}
         ) end as full_seconds`,
);
