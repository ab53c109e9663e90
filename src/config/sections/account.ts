import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { bool, choice, duration, mapping } from '#platform/config/values.ts';

export const accountSection = mapping({
  login_with_email_allowed: bool().prefault(false).describe('People may type their e-mail address as user name.'),
  reauth_max_age: duration('1m', '24h')
    .nullable()
    .prefault('10m')
    .describe('Age of a sign-in after which sensitive actions ask again. `null`: never.'),
  password_registration_enabled: hint(bool(), { defaultText: '`false`; `true` in trial mode' })
    .optional()
    .describe('People may make accounts for themselves, with a password.'),
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

/** @param isTrial nothing is configured: people are let in (operations 2.1) */
export function accountConfig(parsed: z.output<typeof accountSection>, isTrial: boolean) {
  return {
    loginWithEmailAllowed: parsed.login_with_email_allowed,
    /** Undefined: sensitive actions never ask for a fresh authentication. */
    reauthMaxAgeSeconds: parsed.reauth_max_age ?? undefined,
    /** No effect while passwords are switched off. */
    passwordRegistrationEnabled: parsed.password_registration_enabled ?? isTrial,
    clientLogos: parsed.client_logos,
    registrationTtlSeconds: parsed.registration_ttl,
  };
}
