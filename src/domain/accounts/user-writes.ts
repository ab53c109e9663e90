import { statement } from '#platform/postgres/statement.ts';

/** No row when the name is taken, in whatever case. */
export const insertUser = statement<
  { id: string },
  {
    readonly id: string;
    readonly username: string;
    readonly usernameKey: string;
    readonly displayName: string | null;
    readonly locale: string | null;
    readonly canRequestAdmin: boolean;
    readonly now: Date;
  }
>(
  'insert-user',
  `insert into users (id, username, username_key, display_name, locale, can_request_admin, created_at)
  values (:id::uuid, :username::text, :usernameKey::text, :displayName::text, :locale::text, :canRequestAdmin::boolean, :now::timestamptz)
  on conflict do nothing
  returning id`,
);
