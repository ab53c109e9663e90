import type { PageDeps } from '#browser/browser.ts';
import { createSsoLogin } from '#domain/compat-sessions/sso-logins/create-sso-login.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { ssoRedirectProblem } from '#protocol/chat/sso-redirect.ts';
import { uriForLog } from '#protocol/oauth/uris-in-logs.ts';
import { readSsoAction } from './sso-action.ts';

/**
 * `GET login/sso/redirect`, optionally followed by an upstream provider: redirects a chat client's browser to the page
 * that asks the user (chat-compat 8). The target is this service's own URL, because a proxy forwards these requests
 * from the homeserver's host name.
 */
export async function beginSso(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { config, urls } = deps;
  const { query } = context;
  const redirectUri = acceptedRedirect(deps, context);
  const created = await createSsoLogin(
    { ...deps, limiter: config.rateLimiting.ssoRedirect.perIp },
    {
      redirectUri,
      // Clients remember provider names from before a migration to this service, so an unknown one is not an error.
      providerId: deps.upstream.providers.findProposed(context.params['idp'])?.id,
      address: context.clientAddress,
      now: deps.clock.now(),
      lifetimeSeconds: config.compat.ssoLoginTtlSeconds,
    },
  );
  if (!created.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: created.retryAfterSeconds });
  return redirect(urls.beginSso(created.id, readSsoAction(query, config.protocolName), config.protocolName));
}

/** Throws `invalid_redirect_uri`, and logs for the operator which client was rejected. */
function acceptedRedirect({ config, log }: PageDeps, { query }: RequestContext): string {
  const redirectUri = query.get('redirectUrl');
  const problem = query.isRepeated('redirectUrl')
    ? 'redirectUrl must not be given more than once'
    : redirectUri === undefined
      ? 'redirectUrl is missing'
      : ssoRedirectProblem(redirectUri, config.compat.ssoAllowedRedirects);
  if (problem === undefined && redirectUri !== undefined) return redirectUri;
  log.info('auth.refused', 'single sign-on of a chat client refused', {
    code: 'invalid_redirect_uri',
    description: problem,
    redirect_uri: redirectUri === undefined ? undefined : uriForLog(redirectUri),
  });
  throw new LatchkeyError('invalid_redirect_uri', problem === undefined ? {} : { description: problem });
}
