import type { PageDeps } from '#browser/browser.ts';
import { isGrantBound } from '#browser/grants-cookie.ts';
import { readInvitation } from '#browser/invitation-fields.ts';
import { rememberEntry } from '#browser/upstream-cookie.ts';
import { isReauthRequest, REAUTH_FIELD } from '#browser/upstream-reauth.ts';
import { findRequestParameters } from '#domain/authorizations/request-parameters.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { beginAuthorization } from '#domain/upstream/begin-authorization.ts';
import { additionalParameters } from '#domain/upstream/claim-templates.ts';
import { receivesRequests, type UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';

/** `GET /upstream/authorize/{id}`: redirects the user to the provider. */
export async function authorize(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { clock, config, urls } = deps;
  const provider = deps.upstream.providers.find(context.params['id']);
  if (provider === undefined) throw new LatchkeyError('not_found', { restartPath: urls.login() });
  const action = parsePostAuthAction(context.query, config.protocolName);
  const charged = await chargeAddress(deps, {
    name: 'upstream',
    limiter: config.rateLimiting.upstream.perIp,
    address: context.clientAddress,
  });
  if (!charged.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: charged.retryAfterSeconds });
  const metadata = await deps.upstream.metadata.get(provider, { restartPath: urls.login(action) });
  const params = await paramsOf(deps, context, provider, action);
  const begun = await beginAuthorization(deps, {
    provider,
    metadata,
    redirectUri: urls.absolute(`upstream/callback/${provider.id}`),
    additional: additionalParameters(deps, provider, { params, isSignedOut: deps.viewers.isJustSignedOut(context) }),
    invitation: readInvitation(context.query),
    isReauthentication: isReauthRequest(
      deps.keyRing,
      context.query.get(REAUTH_FIELD),
      deps.viewers.cookie(context)?.id,
      clock.now(),
    ),
  });
  if (begun === undefined) throw new LatchkeyError('not_found', { restartPath: urls.login(action) });
  const now = clock.now();
  rememberEntry(context, config.protocolName, now, {
    id: begun.id,
    providerId: provider.id,
    state: begun.state,
    linkId: undefined,
    action,
    at: epochSeconds(now),
  });
  return redirect(begun.location);
}

/**
 * Returns the parameters of an authorization request made in this browser. Parameters of other browsers are not
 * disclosed.
 */
async function paramsOf(
  { database, clock }: PageDeps,
  context: RequestContext,
  provider: UpstreamProvider,
  action: PostAuthAction | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (action?.kind !== 'continue_authorization_grant' || !receivesRequests(provider)) return {};
  return isGrantBound(context, action.id, clock.now()) ? await findRequestParameters(database, action.id) : {};
}
