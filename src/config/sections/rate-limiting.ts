import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { type Immutable, integer, mapping, positiveNumber } from '#platform/config/values.ts';

const SECONDS_OF = { second: 1, minute: 60, hour: 3600 } as const;

/** A token bucket setting with its default, for example a burst of 3 and 3 per minute. */
function limiter(burst: number, refill: number, per: keyof typeof SECONDS_OF) {
  return mapping({
    burst: integer(1, 1_000_000).prefault(burst).describe('Tries at once.'),
    per_second: hint(positiveNumber(), { defaultText: `${refill} per ${per}` })
      .prefault(refill / SECONDS_OF[per])
      .describe('Tries that are given back each second.'),
  }).prefault({});
}

export const rateLimitingSection = mapping({
  login: mapping({
    per_ip: limiter(3, 3, 'minute').describe('Sign-in tries from one client address.'),
    per_account: limiter(100, 100, 'hour').describe('Sign-in tries for one account, from anywhere.'),
    per_known_browser: limiter(10, 10, 'hour').describe(
      'Sign-in tries for an account from a browser that it was used in before, in place of `per_account`.',
    ),
  })
    .prefault({})
    .describe('Tries to sign in.'),
  second_factor: mapping({
    per_account: limiter(10, 10, 'hour').describe(
      'Wrong codes for one account; for each browser that it was used in, apart.',
    ),
  })
    .prefault({})
    .describe('Second factors.'),
  registration: limiter(3, 3, 'hour').describe('Registrations begun from one client address.'),
  registration_check: limiter(30, 30, 'hour').describe(
    'Registration forms sent from one client address, each of which tells whether a name is taken.',
  ),
  email_authentication: mapping({
    per_ip: limiter(5, 1, 'minute').describe('Mails with a code asked for from one client address.'),
    per_address: limiter(3, 1, 'hour').describe('Mails with a code asked for to one e-mail address, from anywhere.'),
    emails_per_session: limiter(2, 12, 'hour').describe('Mails with a code for one attempt to prove an address.'),
    attempt_per_session: limiter(10, 1, 'minute').describe('Codes tried for one attempt to prove an address.'),
  })
    .prefault({})
    .describe('Proving e-mail addresses.'),
  account_recovery: mapping({
    per_ip: limiter(3, 3, 'hour').describe('Mails asked for from one client address.'),
    per_address: limiter(3, 1, 'hour').describe('Mails asked for to one e-mail address, from anywhere.'),
  })
    .prefault({})
    .describe('Recovery mails.'),
  registration_token: limiter(10, 10, 'hour').describe('Wrong registration tokens from one client address.'),
  upstream: mapping({
    per_ip: limiter(30, 1, 'second').describe('Sign-ins through other services begun from one client address.'),
  })
    .prefault({})
    .describe('Signing in through other services.'),
  passkey: mapping({
    per_ip: limiter(60, 60, 'minute').describe(
      'Sign-ins with a passkey begun from one client address; each sign-in page that is opened begins one where browsers ' +
        'offer passkeys by themselves.',
    ),
  })
    .prefault({})
    .describe('Signing in with passkeys.'),
  sso_redirect: mapping({
    per_ip: limiter(30, 60, 'minute').describe('Single sign-ons of chat clients begun from one client address.'),
  })
    .prefault({})
    .describe('Chat clients that send people to the browser.'),
  client_authentication: mapping({
    per_client: limiter(20, 20, 'minute').describe('Failed tries for one client from one address.'),
  })
    .prefault({})
    .describe('Wrong client credentials.'),
  device_code: mapping({
    per_ip: limiter(10, 10, 'minute').describe('Wrong user codes from one client address.'),
    global: limiter(600, 600, 'minute').describe('Wrong user codes of everybody; beyond that each try waits a second.'),
  })
    .prefault({})
    .describe('User codes of devices, entered in a browser.'),
  device_authorization: mapping({
    per_client: limiter(20, 20, 'minute').describe('Requests of one client from one address.'),
  })
    .prefault({})
    .describe('Devices that ask for codes.'),
  par: mapping({
    per_client: limiter(100, 10, 'second').describe(
      'Requests pushed by one client; for a client without a secret, from one address.',
    ),
  })
    .prefault({})
    .describe('Pushed authorization requests.'),
  graphql: mapping({
    authenticated: limiter(60, 120, 'minute').describe('Requests of one browser session or one session of a client.'),
    anonymous: limiter(30, 60, 'minute').describe('Requests of nobody in particular from one client address.'),
  })
    .prefault({})
    .describe('Requests to `/graphql`.'),
  admin_token: mapping({
    per_ip: limiter(20, 20, 'minute').describe('Wrong tokens from one client address.'),
  })
    .prefault({})
    .describe('Requests to the admin API.'),
  client_registration: mapping({
    per_ip: limiter(10, 30, 'hour').describe('Clients registered from one client address.'),
  })
    .prefault({})
    .describe('Applications that register themselves.'),
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
