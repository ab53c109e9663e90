import { statement } from '#platform/postgres/statement.ts';
import { type RegistrationRow, registrationColumns } from './registration-row.ts';

export const insertRegistration = statement<
  never,
  {
    readonly now: Date;
    readonly id: string;
    readonly username: string;
    readonly passwordHash: string;
    readonly schemeVersion: number;
    readonly postAuthAction: string | null;
    readonly termsUri: string | null;
    readonly locale: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'insert-registration',
  `insert into user_registrations (id, username, password_hash, password_scheme_version, post_auth_action, terms_uri,
    locale, ip, user_agent, created_at)
  values (:id::uuid, :username::text, :passwordHash::text, :schemeVersion::integer, :postAuthAction::jsonb, :termsUri::text, :locale::text, :ip::inet, :userAgent::text,
    :now::timestamptz)`,
);

/** Null: the username is to be shown. */
export const setDisplayName = statement<never, { readonly id: string; readonly displayName: string | null }>(
  'set-registration-display-name',
  `update user_registrations set display_name = coalesce(:displayName::text, username)
  where id = :id::uuid and completed_at is null`,
);

/** A display name that was the former username becomes the new one. */
export const replaceUsername = statement<never, { readonly id: string; readonly username: string }>(
  'replace-registration-username',
  `update user_registrations set
    username = :username::text,
    display_name = case when display_name = username then :username::text else display_name end
  where id = :id::uuid and completed_at is null`,
);

export type LockedRegistrationRow = RegistrationRow & {
  readonly password_hash: string | null;
  readonly password_scheme_version: number | null;
  readonly terms_uri: string | null;
  readonly locale: string | null;
};

/** Keeps other finishes of the same registration waiting. */
export const lockRegistration = statement<LockedRegistrationRow, { readonly id: string }>(
  'lock-registration',
  `select ${registrationColumns}, password_hash, password_scheme_version, terms_uri, locale
  from user_registrations where id = :id::uuid for update`,
);

/** The hash goes with it: the account has it now. */
export const completeRegistration = statement<never, { readonly now: Date; readonly id: string }>(
  'complete-registration',
  `update user_registrations set completed_at = :now::timestamptz, password_hash = null, password_scheme_version = null
  where id = :id::uuid and completed_at is null`,
);

/** The terms as they were accepted when the registration began. */
export const insertTerms = statement<never, { readonly userId: string; readonly registrationId: string }>(
  'insert-accepted-terms',
  `insert into user_terms (user_id, terms_uri, accepted_at)
  select :userId::uuid, terms_uri, created_at from user_registrations where id = :registrationId::uuid and terms_uri is not null`,
);
