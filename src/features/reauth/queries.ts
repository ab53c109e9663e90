import { grantIsPending } from '#domain/authorizations/liveness.ts';
import { statement } from '#platform/postgres/statement.ts';

export interface ReauthPageRow {
  readonly has_password: boolean;
  /** Of the authorization request that waits for this, if one does. */
  readonly redirect_uri: string | null;
  readonly locale: string | null;
}

/** What the page depends on beside the viewer; primary keys. */
export const readReauthPage = statement<
  ReauthPageRow,
  { readonly userId: string; readonly grantId: string | null; readonly now: Date }
>(
  'reauth.page',
  `select exists (select from user_passwords where user_id = :userId::uuid) as has_password,
          pending.redirect_uri,
          pending.locale
     from (select 1) as one
     left join oauth2_authorization_grants pending
       on pending.id = :grantId::uuid and ${grantIsPending('pending', ':now::timestamptz')}`,
);
