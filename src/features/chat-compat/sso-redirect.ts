import type { PageDeps } from '#browser/browser.ts';
import { createSsoLogin } from '#domain/compat-sessions/sso-logins/create-sso-login.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { ssoRedirectProblem } from '#protocol/chat/sso-redirect.ts';
import { uriForLog } from '#protocol/oauth/uris-in-logs.ts';
import { readSsoAction } from './sso-action.ts';

/**
 * `GET login/sso/redirect`, also with a sign-in provider behind it: sends the browser of a chat client to the page that
 * asks the person (chat-compat 8). An address of the service, since a proxy brings these requests from the host name of
 * the homeserver.
 */
export async function beginSso(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { config, urls } = deps;
  const { query } = context;
  const redirectUri = acceptedRedirect(deps, context);
  const created = await createSsoLogin(
    { ...deps, limiter: config.rateLimiting.ssoRedirect.perIp },
    {
      redirectUri,
      // Clients keep the names of providers from before a move to this service: an unknown one is no error.
      providerId: deps.upstreamProviders.findProposed(context.params['idp'])?.id,
      address: context.clientAddress,
      now: deps.clock.now(),
      lifetimeSeconds: config.compat.ssoLoginTtlSeconds,
    },
  );
  if (!created.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: created.retryAfterSeconds });
  return redirect(urls.beginSso(created.id, readSsoAction(query, config.protocolName), config.protocolName));
}

/** Throws `invalid_redirect_uri`, and tells the operator whose client was refused. */
function acceptedRedirect({ config, log }: PageDeps, { query }: RequestContext): string {
  const redirectUri = query.get('redirectUrl');
  const problem = query.isRepeated('redirectUrl')
    ? 'redirectUrl must be given once'
    : redirectUri === undefined
      ? 'redirectUrl is missing'
      : ssoRedirectProblem(redirectUri, config.compat.ssoAllowedRedirects);
  if (problem === undefined && redirectUri !== undefined) return redirectUri;
  log.info('auth.refused', 'a chat client may not begin a single sign-on', {
    code: 'invalid_redirect_uri',
    description: problem,
    redirect_uri: redirectUri === undefined ? undefined : uriForLog(redirectUri),
  });
  throw new LatchkeyError('invalid_redirect_uri', problem === undefined ? {} : { description: problem });
}
