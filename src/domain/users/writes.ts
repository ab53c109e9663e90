import { statement } from '#db/statement.ts';

/** No row when the name is taken, in whatever case. */
export const insertUser = statement<
  { id: string },
  [
    id: string,
    username: string,
    usernameKey: string,
    displayName: string | null,
    locale: string | null,
    canRequestAdmin: boolean,
    now: Date,
  ]
>(
  'insert-user',
  `insert into users (id, username, username_key, display_name, locale, can_request_admin, created_at)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::text, $6::boolean, $7::timestamptz)
  on conflict do nothing
  returning id`,
);
