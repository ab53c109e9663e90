import { statement } from '#db/statement.ts';

/**
 * Whether a waiting authorization request asks for a new account (`prompt=create`) and this person's is older than
 * the request, so that they have not made one for it; by primary keys.
 */
export const wantsNewAccount = statement<{ is_wanted: boolean }, [grantId: string, userId: string, now: Date]>(
  'registration.wants-new-account',
  `select exists (
     select from oauth2_authorization_grants pending
       join users u on u.id = $2::uuid and u.created_at < pending.created_at
      where pending.id = $1::uuid and 'create' = any(pending.prompt)
        and pending.fulfilled_at is null and pending.cancelled_at is null and pending.expires_at > $3::timestamptz
   ) as is_wanted`,
);
