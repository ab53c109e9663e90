import { statement } from '#db/statement.ts';
import { type RegistrationRow, registrationColumns } from './registration-row.ts';

export const insertRegistration = statement<
  never,
  [
    now: Date,
    id: string,
    username: string,
    passwordHash: string,
    schemeVersion: number,
    postAuthAction: string | null,
    termsUri: string | null,
    locale: string,
    ip: string | null,
    userAgent: string | null,
  ]
>(
  'insert-registration',
  `insert into user_registrations (id, username, password_hash, password_scheme_version, post_auth_action, terms_uri,
    locale, ip, user_agent, created_at)
  values ($2::uuid, $3::text, $4::text, $5::integer, $6::jsonb, $7::text, $8::text, $9::inet, $10::text,
    $1::timestamptz)`,
);

/** Null: the username is to be shown. */
export const setDisplayName = statement<never, [id: string, displayName: string | null]>(
  'set-registration-display-name',
  `update user_registrations set display_name = coalesce($2::text, username)
  where id = $1::uuid and completed_at is null`,
);

/** A display name that was the former username becomes the new one. */
export const replaceUsername = statement<never, [id: string, username: string]>(
  'replace-registration-username',
  `update user_registrations set
    username = $2::text,
    display_name = case when display_name = username then $2::text else display_name end
  where id = $1::uuid and completed_at is null`,
);

export type LockedRegistrationRow = RegistrationRow & {
  readonly password_hash: string | null;
  readonly password_scheme_version: number | null;
  readonly terms_uri: string | null;
  readonly locale: string | null;
};

/** Keeps other finishes of the same registration waiting. */
export const lockRegistration = statement<LockedRegistrationRow, [id: string]>(
  'lock-registration',
  `select ${registrationColumns}, password_hash, password_scheme_version, terms_uri, locale
  from user_registrations where id = $1::uuid for update`,
);

/** The hash goes with it: the account has it now. */
export const completeRegistration = statement<never, [now: Date, id: string]>(
  'complete-registration',
  `update user_registrations set completed_at = $1::timestamptz, password_hash = null, password_scheme_version = null
  where id = $2::uuid and completed_at is null`,
);

/** The terms as they were accepted when the registration began. */
export const insertTerms = statement<never, [userId: string, registrationId: string]>(
  'insert-accepted-terms',
  `insert into user_terms (user_id, terms_uri, accepted_at)
  select $1::uuid, terms_uri, created_at from user_registrations where id = $2::uuid and terms_uri is not null`,
);
