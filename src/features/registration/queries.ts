import { grantIsPending } from '#domain/authorizations/liveness.ts';
import { statement } from '#platform/postgres/statement.ts';

/**
 * Whether a waiting authorization request asks for a new account (`prompt=create`) and this person's is older than
 * the request, so that they have not made one for it; by primary keys.
 */
export const wantsNewAccount = statement<
  { is_wanted: boolean },
  { readonly grantId: string; readonly userId: string; readonly now: Date }
>(
  'registration.wants-new-account',
  `select exists (
     select from oauth2_authorization_grants pending
       join users u on u.id = :userId::uuid and u.created_at < pending.created_at
      where pending.id = :grantId::uuid and 'create' = any(pending.prompt)
        and ${grantIsPending('pending', ':now::timestamptz')}
   ) as is_wanted`,
);
