import { chargeCtes } from '#domain/rate-limits/charge-sql.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type UserRow, userColumns } from '../../user-row.ts';

/** The account that was named, or nulls; and whether its password may be checked now. */
export type BegunCheckRow = (UserRow | { readonly [Name in keyof UserRow]: null }) & {
  /** Key of the count of failures: the account, or the name that no account has. */
  readonly subject: string;
  readonly password_id: string | null;
  readonly hash: string | null;
  readonly scheme_version: number | null;
  /** Until a token is there in every bucket; null when one was. */
  readonly blocked_seconds: number | null;
  readonly charged_keys: readonly string[] | null;
  readonly charged_seconds: readonly number[] | null;
};

export type BegunCheckParams = {
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
};

/**
 * Finds the account, by id or by what was typed (browser-flows 3.2.3), with its password, and charges the buckets that
 * count its checks (3.2.5). The same work for accounts that exist and those that do not.
 *
 * A name of which case variants were imported fits by its exact spelling only.
 */
export const beginPasswordCheck = statement<BegunCheckRow, BegunCheckParams>(
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
