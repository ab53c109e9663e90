import { statement } from '#db/statement.ts';

/** No row when the address belongs to an account already. */
export const insertEmail = statement<
  { id: string },
  [id: string, userId: string, email: string, emailKey: string, now: Date]
>(
  'insert-user-email',
  `insert into user_emails (id, user_id, email, email_key, created_at)
  values ($1::uuid, $2::uuid, $3::text, $4::text, $5::timestamptz)
  on conflict (email_key) do nothing
  returning id`,
);
