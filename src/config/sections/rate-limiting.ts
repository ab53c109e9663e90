import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { type Immutable, integer, mapping, positiveNumber } from '#platform/config/values.ts';

const SECONDS_OF = { second: 1, minute: 60, hour: 3600 } as const;

/** A token bucket setting with its default, for example a burst of 3 and 3 per minute. */
function limiter(burst: number, refill: number, per: keyof typeof SECONDS_OF) {
  return mapping({
    burst: integer(1, 1_000_000).prefault(burst).describe('Number of attempts in a burst.'),
    per_second: hint(positiveNumber(), { defaultText: `${refill} per ${per}` })
      .prefault(refill / SECONDS_OF[per])
      .describe('Number of attempts refilled per second.'),
  }).prefault({});
}

export const rateLimitingSection = mapping({
  login: mapping({
    per_ip: limiter(3, 3, 'minute').describe('Sign-in attempts per client address.'),
    per_account: limiter(100, 100, 'hour').describe('Sign-in attempts per account, from any address.'),
    per_known_browser: limiter(10, 10, 'hour').describe(
      'Sign-in attempts per account from a browser that has signed in to it before, instead of `per_account`.',
    ),
  })
    .prefault({})
    .describe('Sign-in attempts.'),
  second_factor: mapping({
    per_account: limiter(10, 10, 'hour').describe(
      'Wrong codes per account; each browser that has signed in before has its own limit.',
    ),
  })
    .prefault({})
    .describe('Second factors.'),
  registration: limiter(3, 3, 'hour').describe('Registrations started per client address.'),
  registration_check: limiter(30, 30, 'hour').describe(
    'Registration forms submitted per client address; each response reveals whether a username is taken.',
  ),
  email_authentication: mapping({
    per_ip: limiter(5, 1, 'minute').describe('Verification emails requested per client address.'),
    per_address: limiter(3, 1, 'hour').describe('Verification emails per email address, from any client address.'),
    emails_per_session: limiter(2, 12, 'hour').describe('Verification emails per verification.'),
    attempt_per_session: limiter(10, 1, 'minute').describe('Codes entered per verification.'),
  })
    .prefault({})
    .describe('Verification of email addresses.'),
  account_recovery: mapping({
    per_ip: limiter(3, 3, 'hour').describe('Recovery emails requested per client address.'),
    per_address: limiter(3, 1, 'hour').describe('Recovery emails per email address, from any client address.'),
  })
    .prefault({})
    .describe('Recovery emails.'),
  registration_token: limiter(10, 10, 'hour').describe('Wrong registration tokens per client address.'),
  upstream: mapping({
    per_ip: limiter(30, 1, 'second').describe('Sign-ins with sign-in providers started per client address.'),
  })
    .prefault({})
    .describe('Sign-in with sign-in providers.'),
  passkey: mapping({
    per_ip: limiter(60, 60, 'minute').describe(
      'Passkey sign-ins started per client address. Where browsers offer passkeys in the form, each ' +
        'sign-in page starts one.',
    ),
  })
    .prefault({})
    .describe('Sign-in with passkeys.'),
  sso_redirect: mapping({
    per_ip: limiter(30, 60, 'minute').describe('Single sign-ons started per client address.'),
  })
    .prefault({})
    .describe('Single sign-on of chat clients.'),
  client_authentication: mapping({
    per_client: limiter(20, 20, 'minute').describe('Failed attempts per client and address.'),
  })
    .prefault({})
    .describe('Failed client authentication.'),
  device_code: mapping({
    per_ip: limiter(10, 10, 'minute').describe('Wrong user codes per client address.'),
    global: limiter(600, 600, 'minute').describe(
      'Wrong user codes in total; above it, each attempt is delayed by a second.',
    ),
  })
    .prefault({})
    .describe('User codes of devices, entered in a browser.'),
  device_authorization: mapping({
    per_client: limiter(20, 20, 'minute').describe('Requests per client and address.'),
  })
    .prefault({})
    .describe('Device authorization requests.'),
  par: mapping({
    per_client: limiter(100, 10, 'second').describe(
      'Requests pushed per client; for public clients, per client and address.',
    ),
  })
    .prefault({})
    .describe('Pushed authorization requests.'),
  graphql: mapping({
    authenticated: limiter(60, 120, 'minute').describe('Requests per browser session or client session.'),
    anonymous: limiter(30, 60, 'minute').describe('Unauthenticated requests per client address.'),
  })
    .prefault({})
    .describe('Requests to `/graphql`.'),
  admin_token: mapping({
    per_ip: limiter(20, 20, 'minute').describe('Wrong tokens per client address.'),
  })
    .prefault({})
    .describe('Requests to the admin API.'),
  client_registration: mapping({
    per_ip: limiter(10, 30, 'hour').describe('Registrations per client address.'),
  })
    .prefault({})
    .describe('Dynamic client registration.'),
});

type ParsedRateLimiting = z.output<typeof rateLimitingSection>;

export type RateLimitingConfig = Immutable<ReturnType<typeof rateLimitingConfig>>;

export function rateLimitingConfig(parsed: ParsedRateLimiting) {
  return {
    login: {
      perIp: limiterConfig(parsed.login.per_ip),
      perAccount: limiterConfig(parsed.login.per_account),
      perKnownBrowser: limiterConfig(parsed.login.per_known_browser),
    },
    secondFactor: { perAccount: limiterConfig(parsed.second_factor.per_account) },
    registration: limiterConfig(parsed.registration),
    registrationCheck: limiterConfig(parsed.registration_check),
    registrationToken: limiterConfig(parsed.registration_token),
    emailAuthentication: {
      perIp: limiterConfig(parsed.email_authentication.per_ip),
      perAddress: limiterConfig(parsed.email_authentication.per_address),
      emailsPerSession: limiterConfig(parsed.email_authentication.emails_per_session),
      attemptPerSession: limiterConfig(parsed.email_authentication.attempt_per_session),
    },
    accountRecovery: {
      perIp: limiterConfig(parsed.account_recovery.per_ip),
      perAddress: limiterConfig(parsed.account_recovery.per_address),
    },
    upstream: { perIp: limiterConfig(parsed.upstream.per_ip) },
    passkey: { perIp: limiterConfig(parsed.passkey.per_ip) },
    ssoRedirect: { perIp: limiterConfig(parsed.sso_redirect.per_ip) },
    deviceCode: { perIp: limiterConfig(parsed.device_code.per_ip), global: limiterConfig(parsed.device_code.global) },
    deviceAuthorization: { perClient: limiterConfig(parsed.device_authorization.per_client) },
    par: { perClient: limiterConfig(parsed.par.per_client) },
    graphql: {
      authenticated: limiterConfig(parsed.graphql.authenticated),
      anonymous: limiterConfig(parsed.graphql.anonymous),
    },
    adminToken: { perIp: limiterConfig(parsed.admin_token.per_ip) },
    clientRegistration: { perIp: limiterConfig(parsed.client_registration.per_ip) },
    clientAuthentication: { perClient: limiterConfig(parsed.client_authentication.per_client) },
  };
}

/** A token bucket: capacity `burst`, refilled at `perSecond`. */
export type Limiter = Immutable<ReturnType<typeof limiterConfig>>;

function limiterConfig(parsed: ParsedRateLimiting['login']['per_ip']) {
  return { burst: parsed.burst, perSecond: parsed.per_second };
}
