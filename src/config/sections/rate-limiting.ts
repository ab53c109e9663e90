import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { type Immutable, integer, mapping, positiveNumber } from '#platform/config/values.ts';

const SECONDS_OF = { second: 1, minute: 60, hour: 3600 } as const;

/** A token bucket with its default, for example 3 at once and 3 per minute. */
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
  registration: limiter(3, 3, 'hour').describe('Registrations begun from one client address.'),
  registration_check: limiter(30, 30, 'hour').describe(
    'Registration forms sent from one client address, each of which tells whether a name is taken.',
  ),
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
    registration: limiterConfig(parsed.registration),
    registrationCheck: limiterConfig(parsed.registration_check),
    deviceCode: { perIp: limiterConfig(parsed.device_code.per_ip), global: limiterConfig(parsed.device_code.global) },
    deviceAuthorization: { perClient: limiterConfig(parsed.device_authorization.per_client) },
    par: { perClient: limiterConfig(parsed.par.per_client) },
    clientRegistration: { perIp: limiterConfig(parsed.client_registration.per_ip) },
    clientAuthentication: { perClient: limiterConfig(parsed.client_authentication.per_client) },
  };
}

/** A token bucket: `burst` at once, refilled at `perSecond`. */
export type Limiter = Immutable<ReturnType<typeof limiterConfig>>;

function limiterConfig(parsed: ParsedRateLimiting['login']['per_ip']) {
  return { burst: parsed.burst, perSecond: parsed.per_second };
}
