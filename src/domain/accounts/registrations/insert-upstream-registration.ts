import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import type { RegistrationId, UpstreamAuthorizationId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import {
  type BeginParameters,
  beginAuthenticationCtes,
  beginParameters,
  PROVEN_AUTHENTICATION_CTE,
  UNLESS_PROVEN,
} from '../email-authentications/begin-email-authentication.ts';
import type { EmailAuthenticationId } from '../email-authentications/email-authentication.ts';

export interface UpstreamRegistration {
  /** The upstream sign-in that starts the registration. */
  readonly authorizationId: UpstreamAuthorizationId;
  readonly username: string;
  readonly hasFixedUsername: boolean;
  /** Undefined: its step asks for it. */
  readonly displayName: string | undefined;
  /** `isProven`: the upstream provider has verified it. Otherwise a code is mailed to it. */
  readonly email:
    | {
        readonly id: EmailAuthenticationId;
        readonly email: EmailAddress;
        readonly isProven: boolean;
        readonly isFixed: boolean;
      }
    | undefined;
  /** The registration token that the user came with, as stored. */
  readonly tokenId: string | undefined;
  readonly action: PostAuthAction | undefined;
  /** The accepted terms. */
  readonly termsUri: string | undefined;
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Stores a registration without a password. The caller has validated everything. */
export async function insertUpstreamRegistration(
  queryable: Queryable,
  registration: UpstreamRegistration,
): Promise<RegistrationId> {
  const { now } = registration;
  const id = newId<'registration'>(now);
  const action = postAuthActionFields(registration.action);
  const { email } = registration;
  await queryable.execute(insertRegistration, {
    ...beginParameters(email, { locale: registration.locale, now }),
    isEmailProven: email?.isProven === true,
    hasFixedEmail: email?.isFixed === true,
    tokenId: registration.tokenId ?? null,
    id: toUuid(id),
    authorizationId: toUuid(registration.authorizationId),
    username: registration.username,
    hasFixedUsername: registration.hasFixedUsername,
    displayName: registration.displayName ?? null,
    postAuthAction: action.length === 0 ? null : JSON.stringify(Object.fromEntries(action)),
    termsUri: registration.termsUri ?? null,
    ip: registration.address ?? null,
    userAgent: registration.userAgent ?? null,
  });
  return id;
}

/** Includes the email authentication and its mail, if it has one. */
const insertRegistration = statement<
  never,
  BeginParameters & {
    readonly isEmailProven: boolean;
    readonly hasFixedEmail: boolean;
    readonly tokenId: string | null;
    readonly id: string;
    readonly authorizationId: string;
    readonly username: string;
    readonly hasFixedUsername: boolean;
    readonly displayName: string | null;
    readonly postAuthAction: string | null;
    readonly termsUri: string | null;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'insert-upstream-registration',
  `with ${beginAuthenticationCtes(UNLESS_PROVEN)}, ${PROVEN_AUTHENTICATION_CTE}
   insert into user_registrations (id, upstream_authorization_id, username, has_fixed_username, display_name,
     email_authentication_id, has_fixed_email, registration_token_id, post_auth_action, terms_uri, locale, ip,
     user_agent, created_at)
   values (:id::uuid, :authorizationId::uuid, :username::text, :hasFixedUsername::boolean, :displayName::text,
     :authenticationId::uuid, :hasFixedEmail::boolean, :tokenId::uuid, :postAuthAction::jsonb, :termsUri::text,
     :locale::text, :ip::inet, :userAgent::text, :now::timestamptz)`,
);
