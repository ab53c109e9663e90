import { ID_PATTERN } from '#platform/base/ids.ts';
import { createdAtSql, type MasImport, type MasStep, stage } from './mas-import.ts';

/** Hashes that each algorithm verifies here. The patterns are also used in PostgreSQL. */
export const HASH_PATTERNS = {
  argon2id: '^\\$argon2id\\$v=19\\$m=[0-9]+,t=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$',
  bcrypt: '^\\$2[abxy]\\$[0-9]{2}\\$[./A-Za-z0-9]{53}$',
  pbkdf2: '^\\$pbkdf2-sha256\\$i=[0-9]{1,8}(,l=[0-9]{1,3})?\\$[A-Za-z0-9+/]{1,128}\\$[A-Za-z0-9+/]{22,128}$',
} as const;

/** Imports accounts. Those that MAS was about to deactivate are imported as deactivated. */
export const usersStep: MasStep = {
  entity: 'users',
  tables: ['users'],
  run: async (context) => {
    const { target, now } = context;
    const total = await stage(
      context,
      'mas_users',
      `id uuid, username text, created_at timestamptz, locked_at timestamptz, can_request_admin boolean,
       is_guest boolean, deactivated_at timestamptz`,
      'select user_id, username, created_at, locked_at, can_request_admin, is_guest, deactivated_at from users',
    );
    const done = await target.execute(
      `insert into users (id, username, username_key, display_name, can_request_admin, is_guest, created_at, locked_at,
                          deactivated_at, homeserver_deactivated_at)
       select m.id, m.username, lower(m.username collate "C"), j.display_name, m.can_request_admin, m.is_guest,
              ${createdAtSql('m.created_at', 'm.id')}, m.locked_at,
              coalesce(m.deactivated_at, case when j.deactivates then $1::timestamptz end),
              case when j.deactivates then null else m.deactivated_at end
         from mas_users m
         left join (
           select user_id, max(display_name) as display_name, nullif(bool_or(queue = 'deactivate-user'), false) as deactivates
             from mas_jobs group by user_id
         ) j on j.user_id = m.id
        where m.username !~* $2::text`,
      [now, ID_PATTERN],
    );
    // Keys are unique. Of names that differ only in case, one keeps the common key: the lower-case one if it exists. The
    // others show `isNamed` that only exact spellings match.
    await target.execute(
      `update users u set username_key = username
         from (select id, row_number() over (partition by username_key order by username = username_key desc, created_at, id) as place
                 from users) ranked
        where ranked.id = u.id and ranked.place > 1`,
      [],
    );
    await target.complete('users');
    return { done, skipped: { 'identifier name': total - done } };
  },
};

/** The newest password of each account. Older ones do not sign in. */
export const NEWEST_PASSWORDS = `select distinct on (user_id) user_id, user_password_id, hashed_password, version, created_at
    from user_passwords order by user_id, created_at desc, user_password_id desc`;

/** Condition: a configured scheme verifies the hash. */
export function hashIsUsable(hash: string, version: string, { schemes }: Pick<MasImport, 'schemes'>): string {
  if (schemes.length === 0) return 'false';
  return `(${schemes
    .map((scheme) => `${version} = ${scheme.version} and ${hash} ~ '${HASH_PATTERNS[scheme.algorithm]}'`)
    .join(' or ')})`;
}

export const passwordsStep: MasStep = {
  entity: 'passwords',
  tables: [],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_passwords',
      'user_id uuid, id uuid, hash text, version integer, created_at timestamptz',
      NEWEST_PASSWORDS,
    );
    const [usable] = await target.query<{ count: number }>(
      `select count(*)::integer as count from mas_passwords m where ${hashIsUsable('m.hash', 'm.version', context)}`,
    );
    const done = await target.execute(
      `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
       select m.user_id, m.id, m.hash, m.version, ${createdAtSql('m.created_at', 'm.id')}
         from mas_passwords m
         join users u on u.id = m.user_id
        where ${hashIsUsable('m.hash', 'm.version', context)}
          and not exists (select from mas_jobs j
                           where j.user_id = m.user_id and j.queue = 'deactivate-user' and j.erase)`,
      [],
    );
    await target.complete('user_passwords');
    const count = usable?.count ?? 0;
    return { done, skipped: { 'unknown password hash': total - count, 'no account': count - done } };
  },
};
