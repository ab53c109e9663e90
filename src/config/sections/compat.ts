import type { z } from 'zod';
import { bool, choice, duration, list, mapping, text } from '#platform/config/values.ts';
import { ssoRedirectProblem } from '#protocol/chat/sso-redirect.ts';

/** A prefix of URLs that may receive a token. URLs that can never receive one are rejected. */
const redirectPrefix = text({ maximum: 2048, expected: 'expected an absolute URL' }).superRefine((address, context) => {
  if (ssoRedirectProblem(address, undefined) !== undefined) context.addIssue('expected an absolute URL');
});

export const compatSection = mapping({
  enabled: bool()
    .prefault(true)
    .describe('Enables sign-in, refresh and sign-out for chat clients through the routes of their own protocol.'),
  password_login: bool()
    .prefault(true)
    .describe('Allows chat clients to sign in with a password. No effect if passwords are disabled.'),
  login_token_ttl: duration('10s', '2m')
    .prefault(30)
    .describe('Time for the client to exchange the login token returned by the browser.'),
  sso_login_ttl: duration('5m', '1h').prefault(1800).describe('Time to sign in and consent in the browser.'),
  sso_allowed_redirects: list(redirectPrefix)
    .nullable()
    .prefault(null)
    .describe(
      'Allowed redirect URLs for single sign-on. The scheme, host and port must match exactly; the path ' +
        'must be the same or below. A private-use scheme alone (`im.client.app://`) allows every URL with ' +
        "that scheme. Default: any URL, after the user's consent.",
    ),
  advertise_upstream_providers: bool()
    .prefault(false)
    .describe(
      'Lists the enabled providers of `upstream_oauth2` in the sign-in flows, so that clients can show a ' +
        'button for each. Newer clients do not need it: users choose a provider on the sign-in page.',
    ),
  logout_all: choice(['all', 'compat_only'])
    .prefault('all')
    .describe(
      'Sessions that `logout/all` ends: those of chat clients and those with OAuth tokens for the client ' +
        'API. `compat_only` ends only those of chat clients, and only for clients that opt in.',
    ),
});

export function compatConfig(parsed: z.output<typeof compatSection>, arePasswordsEnabled: boolean) {
  return {
    enabled: parsed.enabled,
    passwordLogin: parsed.password_login && arePasswordsEnabled,
    loginTokenTtlSeconds: parsed.login_token_ttl,
    ssoLoginTtlSeconds: parsed.sso_login_ttl,
    ssoAllowedRedirects: parsed.sso_allowed_redirects ?? undefined,
    advertisesUpstreamProviders: parsed.advertise_upstream_providers,
    logoutAll: parsed.logout_all,
  };
}
