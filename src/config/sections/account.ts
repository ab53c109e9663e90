import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { bool, choice, duration, integer, mapping } from '#platform/config/values.ts';

export const accountSection = mapping({
  login_with_email_allowed: bool().prefault(false).describe('Users may enter their email address as the username.'),
  reauth_max_age: duration('1m', '24h')
    .nullable()
    .prefault('10m')
    .describe(
      'Maximum age of a sign-in for sensitive actions; after that, users must confirm their identity. ' +
        '`null`: never.',
    ),
  second_factor: choice(['off', 'optional', 'required'])
    .prefault('optional')
    .describe(
      'Whether a one-time code is required after the password. `optional`: for users with an authenticator ' +
        'app. `required`: every user with a password must set one up. `off`: never.',
    ),
  second_factor_after_upstream: choice(['never', 'if_enrolled'])
    .prefault('never')
    .describe('Whether users with an authenticator app must enter a code after signing in with a sign-in provider.'),
  second_factor_on_reauth: bool()
    .prefault(true)
    .describe('Users with an authenticator app must enter a code when they confirm their identity.'),
  second_factor_trust_days: integer(0, 90)
    .prefault(0)
    .describe('Days that users may trust a browser, which then skips the one-time code. `0`: never.'),
  password_registration_enabled: hint(bool(), { defaultText: '`false`; `true` in trial mode' })
    .optional()
    .describe('Users may register with a password.'),
  password_registration_email_required: hint(bool(), { defaultText: '`true` where `email.transport` delivers mail' })
    .optional()
    .describe('Registration with a password requires an email address, which the user verifies with a code.'),
  password_recovery_enabled: hint(bool(), { defaultText: '`false`; `true` in trial mode' })
    .optional()
    .describe('Users who forgot their password may reset it with a link sent by email.'),
  recovery_ticket_ttl: duration('5m', '60m').prefault('10m').describe('Lifetime of the link in a recovery email.'),
  recovery_session_ttl: duration('10m', '24h')
    .prefault('1h')
    .describe('Period during which a recovery may send further emails.'),
  recovery_sets_first_password: bool()
    .prefault(false)
    .describe('Accounts without a password may set one with a recovery email.'),
  recovery_signs_out_devices: bool()
    .prefault(false)
    .describe('A recovery signs out of all applications and devices. `false`: only if the user asks for it.'),
  password_registration_token_required: hint(bool().prefault(false), {
    aliases: ['registration_token_required'],
  }).describe(
    'Registration with a password requires a registration token, created with `latchkey manage ' +
      'issue-user-registration-token`.',
  ),
  password_change_allowed: bool().prefault(true).describe('Users may change their password.'),
  email_change_allowed: bool().prefault(true).describe('Users may add and remove email addresses of their account.'),
  keep_one_email: bool()
    .prefault(true)
    .describe(
      'The last email address of an account cannot be removed, unless the user can sign in with an ' +
        'sign-in provider.',
    ),
  displayname_change_allowed: bool().prefault(true).describe('Users may change their display name.'),
  profile_change_allowed: bool()
    .prefault(true)
    .describe('Users may change their given name, family name and time zone. They always choose their language.'),
  account_deactivation_allowed: bool().prefault(true).describe('Users may deactivate their own account.'),
  data_export_enabled: bool().prefault(true).describe('Users may download an archive of the data stored about them.'),
  totp_enabled: bool()
    .prefault(true)
    .describe(
      'Users may set up an authenticator app as a second factor. `false`: existing ones remain in use and ' +
        'can be removed.',
    ),
  passkeys_enabled: bool()
    .prefault(true)
    .describe('Users may sign in with passkeys. Browsers support them on domains with TLS and on `localhost`.'),
  passkey_offer: bool()
    .prefault(true)
    .describe(
      'After a sign-in with a password, users without a passkey are asked whether to add one, at most once in 30 ' +
        'days. No effect if passkeys are disabled.',
    ),
  activity_retention: duration('30d', '1095d')
    .prefault('180d')
    .describe('How long users see the events of their account (sign-ins and changes).'),
  client_logos: choice(['initials', 'proxy'])
    .prefault('initials')
    .describe(
      'Logos of clients on consent pages. `initials`: logos are not fetched. `proxy`: the server fetches ' +
        'and serves logos, so that their hosts do not see users.',
    ),
  registration_ttl: duration('10m', '24h').prefault('1h').describe('Time to complete a registration.'),
});

/** Inputs of the defaults. */
interface AccountInputs {
  /** Trial mode: nothing is configured, so registration is open (operations 2.1). */
  readonly isTrial: boolean;
  /** Mail is delivered, so users can be required to verify an email address. */
  readonly sendsMails: boolean;
}

export function accountConfig(parsed: z.output<typeof accountSection>, { isTrial, sendsMails }: AccountInputs) {
  return {
    loginWithEmailAllowed: parsed.login_with_email_allowed,
    /** Undefined: sensitive actions never require reauthentication. */
    reauthMaxAgeSeconds: parsed.reauth_max_age ?? undefined,
    secondFactor: parsed.second_factor,
    secondFactorAfterUpstream: parsed.second_factor_after_upstream,
    secondFactorOnReauth: parsed.second_factor_on_reauth,
    secondFactorTrustDays: parsed.second_factor_trust_days,
    /** No effect if passwords are disabled. */
    passwordRegistrationEnabled: parsed.password_registration_enabled ?? isTrial,
    /** Registration with a password requires a verified email address. */
    passwordRegistrationEmailRequired: parsed.password_registration_email_required ?? (sendsMails && !isTrial),
    /** Registration with a password requires a registration token. */
    passwordRegistrationTokenRequired: parsed.password_registration_token_required,
    /** No effect if passwords are disabled. */
    passwordChangeAllowed: parsed.password_change_allowed,
    emailChangeAllowed: parsed.email_change_allowed,
    /** Applies to users without another sign-in method. */
    keepsOneEmail: parsed.keep_one_email,
    displayNameChangeAllowed: parsed.displayname_change_allowed,
    profileChangeAllowed: parsed.profile_change_allowed,
    deactivationAllowed: parsed.account_deactivation_allowed,
    passkeysEnabled: parsed.passkeys_enabled,
    passkeyOffer: parsed.passkey_offer,
    dataExportEnabled: parsed.data_export_enabled,
    totpEnabled: parsed.totp_enabled,
    /** No effect if passwords are disabled. */
    passwordRecoveryEnabled: parsed.password_recovery_enabled ?? isTrial,
    recoveryTicketTtlSeconds: parsed.recovery_ticket_ttl,
    recoverySessionTtlSeconds: parsed.recovery_session_ttl,
    recoverySetsFirstPassword: parsed.recovery_sets_first_password,
    recoverySignsOutDevices: parsed.recovery_signs_out_devices,
    clientLogos: parsed.client_logos,
    registrationTtlSeconds: parsed.registration_ttl,
  };
}
