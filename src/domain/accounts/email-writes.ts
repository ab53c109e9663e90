import { statement } from '#platform/postgres/statement.ts';

/** No row when the address belongs to an account already. */
export const insertEmail = statement<
  { id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly email: string;
    readonly emailKey: string;
    readonly now: Date;
  }
>(
  'insert-user-email',
  `insert into user_emails (id, user_id, email, email_key, created_at)
  values (:id::uuid, :userId::uuid, :email::text, :emailKey::text, :now::timestamptz)
  on conflict (email_key) do nothing
  returning id`,
);
