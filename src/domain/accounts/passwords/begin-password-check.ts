import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { addressBucketKey, awaitLimitCheck, secondsPerToken, unknownNameKey } from '#domain/limits/rate-limits.ts';
import { type UserRow, userColumns } from '#domain/records/user.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { LoginName } from '../login-name.ts';

export interface BeginPasswordCheckDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly limits: RateLimitingConfig['login'];
}

/** The account whose password is checked, and the origin of the request. */
export interface PasswordCheckSubject {
  /** The account of a session, or the name that the user typed. */
  readonly account: UserId | LoginName;
  readonly address: string | undefined;
  /** Accounts that have signed in with this browser before, with their nonces. */
  readonly knownBrowsers: readonly { readonly user: UserId; readonly nonce: string }[];
}

/** The account, or nulls, and whether its password may be checked now. */
export type BegunCheckRow = (UserRow | { readonly [Name in keyof UserRow]: null }) & {
  /** Key of the failure count: the account, or the typed name if no account has it. */
  readonly subject: string;
  readonly password_id: string | null;
  readonly hash: string | null;
  readonly scheme_version: number | null;
  /** Seconds until every bucket has a token; null if all had one. */
  readonly blocked_seconds: number | null;
  readonly charged_keys: readonly string[] | null;
  readonly charged_seconds: readonly number[] | null;
};

const begin = statement<
  BegunCheckRow,
  {
    readonly now: Date;
    readonly userId: string | null;
    readonly emailKey: string | null;
    readonly username: string | null;
    readonly usernameKey: string | null;
    readonly unknownSubject: string;
    readonly addressKey: string;
    readonly addressBurst: number;
    readonly addressSeconds: number;
    readonly accountBurst: number;
    readonly accountSeconds: number;
    readonly knownUserIds: readonly string[];
    readonly knownNonces: readonly string[];
    readonly knownBurst: number;
    readonly knownSeconds: number;
  }
>(
  'begin-password-check',
  `with account as (
    select candidate.user_id
    from (
      select id as user_id, 0 as preference from users where id = :userId::uuid
      union all
      select user_id, 1 from user_emails where email_key = :emailKey::text
      union all
      select id, 2 from users where username = :username::text
      union all
      select id, 3 from users where username_key = :usernameKey::text and not exists (
        select from users variant
        where lower(variant.username collate "C") = :usernameKey::text
          and variant.username_key <> lower(variant.username collate "C")
      )
    ) as candidate
    order by candidate.preference limit 1
  ),
  subject as (
    select account.user_id,
      coalesce('user:' || account.user_id, :unknownSubject::text) as key,
      (
        select known.nonce from unnest(:knownUserIds::uuid[], :knownNonces::text[]) as known (user_id, nonce)
        where known.user_id = account.user_id limit 1
      ) as nonce
    from (select 1) as always left join account on true
  ),
  wanted as (
    select 'login:ip:' || :addressKey::text as key, :addressBurst::float8 as burst, :addressSeconds::float8 as seconds
    union all
    select 'login:account:' || subject.key, :accountBurst::float8, :accountSeconds::float8 from subject where subject.nonce is null
    union all
    select 'login:known:' || subject.key || ':' || subject.nonce, :knownBurst::float8, :knownSeconds::float8
    from subject where subject.nonce is not null
  ),
  ${chargeCtes(':now::timestamptz')}
  select ${userColumns('u')},
    subject.key as subject,
    p.id as password_id,
    p.hash,
    p.scheme_version,
    (select blocked.seconds from blocked) as blocked_seconds,
    (select array_agg(charged.key order by charged.key) from charged) as charged_keys,
    (select array_agg(charged.seconds order by charged.key) from charged) as charged_seconds
  from subject
  left join users u on u.id = subject.user_id
  left join user_passwords p on p.user_id = subject.user_id`,
);

/**
 * Finds the account by ID or by the typed name (browser-flows 3.2.3), together with its password, and charges the rate
 * limit buckets (browser-flows 3.2.5). Existing and unknown accounts take the same work.
 *
 * A name with imported variants in different case matches only by its exact spelling.
 */
export async function beginPasswordCheck(
  deps: BeginPasswordCheckDeps,
  subject: PasswordCheckSubject,
): Promise<BegunCheckRow> {
  const { clock, database, keyRing, limits, log } = deps;
  const { account, address, knownBrowsers } = subject;
  const name = typeof account === 'string' ? undefined : account;
  const row = await awaitLimitCheck(
    database.first(begin, {
      now: new Date(clock.now()),
      userId: typeof account === 'string' ? toUuid(account) : null,
      emailKey: name?.emailKey ?? null,
      username: name?.exact ?? null,
      usernameKey: name?.key ?? null,
      unknownSubject: `name:${unknownNameKey(keyRing, name?.key ?? '')}`,
      addressKey: addressBucketKey(log, address),
      addressBurst: limits.perIp.burst,
      addressSeconds: secondsPerToken(limits.perIp),
      accountBurst: limits.perAccount.burst,
      accountSeconds: secondsPerToken(limits.perAccount),
      knownUserIds: knownBrowsers.map((known) => toUuid(known.user)),
      knownNonces: knownBrowsers.map((known) => known.nonce),
      knownBurst: limits.perKnownBrowser.burst,
      knownSeconds: secondsPerToken(limits.perKnownBrowser),
    }),
  );
  if (row === undefined) throw new Error('the statement that begins a password check returned no row');
  return row;
}
