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
    .describe('Chat clients may sign in, refresh and sign out by the routes of their own protocol.'),
  password_login: bool()
    .prefault(true)
    .describe('They may send the password of the person themselves. No effect while passwords are switched off.'),
  login_token_ttl: duration('10s', '2m')
    .prefault(30)
    .describe('Time for the client to exchange the token that the browser takes to it.'),
  sso_login_ttl: duration('5m', '1h').prefault(1800).describe('Time to sign in in the browser and to agree there.'),
  sso_allowed_redirects: list(redirectPrefix)
    .nullable()
    .prefault(null)
    .describe(
      'Where single sign-on may end, as URLs: the same scheme, host and port, and the same path or one below it. ' +
        'A private-use scheme by itself (`im.client.app://`) allows every address of its application. Without the list: at every client, once the person has agreed.',
    ),
  advertise_upstream_providers: bool()
    .prefault(false)
    .describe(
      'Clients are told of the enabled providers of `upstream_oauth2`, and may show a button for each. Newer ones do ' +
        'not need that: people choose here.',
    ),
  logout_all: choice(['all', 'compat_only'])
    .prefault('all')
    .describe(
      'What `logout/all` ends: the sessions of chat clients and those with OAuth tokens for the client API; with ' +
        '`compat_only` those of chat clients alone, and only for clients that say that this is enough.',
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
