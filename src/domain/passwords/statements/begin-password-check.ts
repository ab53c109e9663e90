import { statement } from '#db/statement.ts';
import { chargeCtes } from '#domain/rate-limits/charge-sql.ts';
import { type UserRow, userColumns } from '#domain/users/user-row.ts';

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

export type BegunCheckParams = [
  now: Date,
  userId: string | null,
  emailKey: string | null,
  username: string | null,
  usernameKey: string | null,
  unknownSubject: string,
  addressKey: string,
  addressBurst: number,
  addressSeconds: number,
  accountBurst: number,
  accountSeconds: number,
  knownUserIds: readonly string[],
  knownNonces: readonly string[],
  knownBurst: number,
  knownSeconds: number,
];

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
      select id as user_id, 0 as preference from users where id = $2::uuid
      union all
      select user_id, 1 from user_emails where email_key = $3::text
      union all
      select id, 2 from users where username = $4::text
      union all
      select id, 3 from users where username_key = $5::text and not exists (
        select from users variant
        where lower(variant.username collate "C") = $5::text
          and variant.username_key <> lower(variant.username collate "C")
      )
    ) as candidate
    order by candidate.preference limit 1
  ),
  subject as (
    select account.user_id,
      coalesce('user:' || account.user_id, $6::text) as key,
      (
        select known.nonce from unnest($12::uuid[], $13::text[]) as known (user_id, nonce)
        where known.user_id = account.user_id limit 1
      ) as nonce
    from (select 1) as always left join account on true
  ),
  wanted as (
    select 'login:ip:' || $7::text as key, $8::float8 as burst, $9::float8 as seconds
    union all
    select 'login:account:' || subject.key, $10::float8, $11::float8 from subject where subject.nonce is null
    union all
    select 'login:known:' || subject.key || ':' || subject.nonce, $14::float8, $15::float8
    from subject where subject.nonce is not null
  ),
  ${chargeCtes('$1::timestamptz')}
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
