import { isIdentifier, parseDisplayName } from '#domain/accounts/account-names.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { columnsOf, type ImportContext, type ImportStep, localpartOf, timeOf } from './entity.ts';

interface SourceUser {
  readonly name: string | null;
  readonly password_hash: string | null;
  /** In seconds. Older versions of Synapse stored milliseconds. */
  readonly created: number | null;
  readonly admin: number;
  readonly is_guest: number;
  readonly deactivated: number;
  readonly is_locked: boolean;
  readonly appservice_id: string | null;
  readonly displayname: string | null;
}

interface NewUser {
  readonly id: string;
  readonly username: string;
  readonly displayName: string | null;
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly createdAt: Date;
  readonly lockedAt: Date | null;
  readonly deactivatedAt: Date | null;
  readonly hash: string | null;
}

/** Passwords from Synapse belong to the scheme with this version. */
export const IMPORTED_SCHEME_VERSION = 1;
/** Matches hashes that Synapse creates. Other programs may have stored different ones. Also used in PostgreSQL. */
export const BCRYPT_PATTERN = '^\\$2[abxy]?\\$[0-9]{2}\\$[./A-Za-z0-9]{53}$';
const BCRYPT = new RegExp(BCRYPT_PATTERN);
/** Seconds until the year 5138. Larger values are milliseconds. */
const MAX_SECONDS = 100_000_000_000;

/**
 * Imports accounts with their passwords. Accounts of application services stay in Synapse. Users who await an
 * administrator's approval there are locked here until an administrator unlocks them.
 */
export const usersStep: ImportStep<SourceUser> = {
  entity: 'users',
  tables: ['users'],
  source: `select u.name, u.password_hash, u.creation_ts as created, u.admin, u.is_guest, u.deactivated,
                  coalesce(u.locked, false) or u.approved is false as is_locked, u.appservice_id, p.displayname
             from users u
             left join profiles p on p.full_user_id = u.name`,
  load: async (context, rows) => {
    const own = rows.filter((row) => row.appservice_id === null);
    const named = own.flatMap((row) => newUser(row, context));
    const users = named.filter(({ username }) => !isIdentifier(username));
    await context.target.execute(
      `insert into users (id, username, username_key, display_name, can_request_admin, is_guest, created_at, locked_at,
                          deactivated_at)
       select id, username, lower(username collate "C"), display_name, is_admin, is_guest, created_at, locked_at, deactivated_at
         from unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::timestamptz[],
                     $7::timestamptz[], $8::timestamptz[])
           as b (id, username, display_name, is_admin, is_guest, created_at, locked_at, deactivated_at)`,
      columnsOf(users, [
        'id',
        'username',
        'displayName',
        'isAdmin',
        'isGuest',
        'createdAt',
        'lockedAt',
        'deactivatedAt',
      ]),
    );
    const hashed = users.filter(({ hash }) => hash !== null && hash !== '');
    const withPassword = hashed.filter(({ hash }) => BCRYPT.test(hash ?? ''));
    await context.target.execute(
      `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
       select user_id, gen_random_uuid(), hash, ${IMPORTED_SCHEME_VERSION}, $3::timestamptz
         from unnest($1::uuid[], $2::text[]) as b (user_id, hash)`,
      [...columnsOf(withPassword, ['id', 'hash']), new Date(context.now)],
    );
    return {
      done: users.length,
      skipped: {
        'application service': rows.length - own.length,
        'unusable name': own.length - named.length,
        'identifier name': named.length - users.length,
        'unknown password hash': hashed.length - withPassword.length,
      },
    };
  },
  end: async ({ target }) => {
    // Keys are unique. Of names that differ only in case, one keeps the common key: the lower-case one if it exists. The
    // others show `isNamed` that only exact spellings match.
    await target.execute(
      `update users u set username_key = username
         from (select id, row_number() over (partition by username_key order by username = username_key desc, id) as place
                 from users) ranked
        where ranked.id = u.id and ranked.place > 1`,
      [],
    );
    await target.complete('users', 'user_passwords');
  },
};

function newUser(row: SourceUser, { suffix, now }: ImportContext): NewUser[] {
  const username = localpartOf(row.name, suffix);
  if (username === undefined) return [];
  const created = row.created ?? 0;
  const createdAt = timeOf(created > MAX_SECONDS ? created : created * 1000) ?? new Date(now);
  return [
    {
      id: toUuid(newId(createdAt.getTime())),
      username,
      displayName: parseDisplayName(row.displayname ?? '') ?? null,
      isAdmin: row.admin !== 0,
      isGuest: row.is_guest !== 0,
      createdAt,
      lockedAt: row.is_locked ? new Date(now) : null,
      deactivatedAt: row.deactivated === 0 ? null : new Date(now),
      hash: row.password_hash,
    },
  ];
}
