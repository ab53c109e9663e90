import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { bool, choice, duration, integer, mapping } from '#platform/config/values.ts';

export const accountSection = mapping({
  login_with_email_allowed: bool().prefault(false).describe('People may type their e-mail address as user name.'),
  reauth_max_age: duration('1m', '24h')
    .nullable()
    .prefault('10m')
    .describe('Age of a sign-in after which sensitive actions ask again. `null`: never.'),
  second_factor: choice(['off', 'optional', 'required'])
    .prefault('optional')
    .describe(
      'Whether a one-time code is asked for after the password. `optional`: of people who have set them up. ' +
        '`required`: everybody with a password has to set them up. `off`: nobody is asked.',
    ),
  second_factor_after_upstream: choice(['never', 'if_enrolled'])
    .prefault('never')
    .describe(
      'Whether people who have set up one-time codes are asked for one after a sign-in through another service.',
    ),
  second_factor_on_reauth: bool()
    .prefault(true)
    .describe('People who have set up one-time codes are asked for one when they prove again who they are.'),
  second_factor_trust_days: integer(0, 90)
    .prefault(0)
    .describe('How long people may have a browser trusted, in which they are not asked for a code. `0`: not at all.'),
  password_registration_enabled: hint(bool(), { defaultText: '`false`; `true` in trial mode' })
    .optional()
    .describe('People may make accounts for themselves, with a password.'),
  password_registration_email_required: hint(bool(), { defaultText: '`true` where `email.transport` sends mails' })
    .optional()
    .describe('Such an account needs an e-mail address, which the person proves to be theirs with a code.'),
  password_recovery_enabled: hint(bool(), { defaultText: '`false`; `true` in trial mode' })
    .optional()
    .describe('People who lost their password may set a new one by a link that is mailed to them.'),
  recovery_ticket_ttl: duration('5m', '60m').prefault('10m').describe('How long the link of a recovery mail works.'),
  recovery_session_ttl: duration('10m', '24h')
    .prefault('1h')
    .describe('How long further mails can be sent for one recovery.'),
  recovery_sets_first_password: bool()
    .prefault(false)
    .describe('Accounts that have no password may get one by a recovery mail.'),
  recovery_signs_out_devices: bool()
    .prefault(false)
    .describe('A recovery signs out of all applications and devices. `false`: when the person wants it.'),
  password_registration_token_required: hint(bool().prefault(false), {
    aliases: ['registration_token_required'],
  }).describe(
    'Such an account needs a registration token, which `latchkey manage issue-user-registration-token` makes.',
  ),
  password_change_allowed: bool().prefault(true).describe('People may change their password.'),
  email_change_allowed: bool().prefault(true).describe('People may add and remove e-mail addresses of their account.'),
  keep_one_email: bool()
    .prefault(true)
    .describe('The last e-mail address of an account stays, unless its owner can sign in through another service.'),
  displayname_change_allowed: bool().prefault(true).describe('People may change their display name.'),
  account_deactivation_allowed: bool().prefault(true).describe('People may end their own account.'),
  data_export_enabled: bool()
    .prefault(true)
    .describe('People may take with them, as an archive, what is stored about them here.'),
  totp_enabled: bool()
    .prefault(true)
    .describe(
      'People may set up an authenticator app, whose codes they are asked for when they sign in. `false`: those that are ' +
        'set up stay, and can be removed.',
    ),
  passkeys_enabled: bool()
    .prefault(true)
    .describe('People may sign in with passkeys. Browsers make them for a domain with TLS, and for `localhost`.'),
  activity_retention: duration('30d', '1095d')
    .prefault('180d')
    .describe('How long the events of accounts (sign-ins, changes) are kept.'),
  client_logos: choice(['initials', 'proxy'])
    .prefault('initials')
    .describe(
      'Logos of applications on pages that ask about one. `initials`: none is fetched. `proxy`: this service fetches ' +
        'them and serves them itself, so that their hosts see nobody.',
    ),
  registration_ttl: duration('10m', '24h').prefault('1h').describe('How long a person has to finish a registration.'),
});

/** Inputs of the defaults. */
interface AccountSurroundings {
  /** Trial mode: nothing is configured, so registration is open (operations 2.1). */
  readonly isTrial: boolean;
  /** Mail is delivered, so users can be required to verify an email address. */
  readonly sendsMails: boolean;
}

export function accountConfig(parsed: z.output<typeof accountSection>, { isTrial, sendsMails }: AccountSurroundings) {
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
    deactivationAllowed: parsed.account_deactivation_allowed,
    passkeysEnabled: parsed.passkeys_enabled,
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
