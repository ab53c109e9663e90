/** Finishes an authorization request with a code, an error, or a page if the request has already ended. */
import type { PageDeps } from '#browser/browser.ts';
import { type CancelReason, cancelAuthorizationGrant } from '#domain/authorizations/cancel-authorization-grant.ts';
import { fulfillAuthorizationGrant } from '#domain/authorizations/fulfill-authorization-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { rememberableScopes } from '#domain/clients/consents.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import {
  type AuthorizationResult,
  deliveryOf,
  isSignedMode,
  type ResponseFields,
  type ResponseTarget,
  responseFields,
  responseLocation,
  signedResponseClaims,
} from '#protocol/oauth/authorization-response.ts';
import { ExpiredPage, FormPostPage, OpeningPage, type ReturnToClient } from './finished.page.tsx';
import type { ActiveViewer } from './next-step.ts';
import { consentScopes } from './next-step.ts';
import { type AuthorizationDeps, type Opened, readerLanguage, type StoredRequest } from './stored-request.ts';

/** Creates the code and sends it to the client. */
export async function fulfillRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
  viewer: ActiveViewer,
  isDecided: boolean,
): Promise<HttpResponse> {
  const { grant, client } = stored;
  const { database, clock } = deps;
  const isRemembered = isDecided && (deps.rememberConsent || client.isFirstParty);
  const code = await fulfillAuthorizationGrant(database, {
    id: grant.id,
    userId: viewer.user.id,
    browserSessionId: viewer.session.id,
    clientVersion: client.version,
    locale: readerLanguage(deps.pages, context, grant.locale).language,
    isDecided,
    rememberedScopes: isRemembered ? rememberableScopes(consentScopes(grant), deps.scopeRules) : [],
    rememberedResources: isRemembered ? deps.resourceRules.shown(grant.resources) : [],
    address: context.clientAddress,
    userAgent: context.userAgent,
    now: clock.now(),
  });
  if (code !== undefined) {
    return await respondToClient(deps, context, client, grant.target, { kind: 'code', code }, grant.locale);
  }
  // The grant, session, account or client changed after it was read. The next visit determines which.
  deps.clients.forget(client.id);
  return redirect(deps.urls.authorizationGrant(grant.id));
}

const CANCELLED: AuthorizationResult = {
  kind: 'error',
  error: 'access_denied',
  description: 'the user canceled the request',
};

/** Ends the grant and reports to the client that the user declined. */
export async function cancelRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
): Promise<HttpResponse> {
  await endGrant(deps, stored, 'user');
  const { target, locale } = stored.grant;
  return await respondToClient(deps, context, stored.client, target, CANCELLED, locale);
}

/** Ends the grant without a code. @throws LatchkeyError `already_used` */
export async function endGrant(
  { database, clock }: AuthorizationDeps,
  { grant }: StoredRequest,
  reason: CancelReason,
): Promise<void> {
  if (!(await cancelAuthorizationGrant(database, grant.id, reason, clock.now()))) {
    throw new LatchkeyError('already_used');
  }
}

/**
 * Builds the response to the client: a redirect, or a page that posts it (oauth 6.4). The URL carries a code or an
 * error, so it must reach neither a cache nor a `Referer` header.
 * @param locale language of the page, if the client requested one
 */
export async function respondToClient(
  deps: PageDeps,
  context: Pick<RequestContext, 'headers' | 'cookies'>,
  client: RespondingClient,
  target: ResponseTarget,
  result: AuthorizationResult,
  locale?: string,
): Promise<HttpResponse> {
  const fields = await fieldsFor(deps, client, target, result);
  if (deliveryOf(target.responseMode) !== 'form_post') {
    return redirect(responseLocation(target, fields), { 'referrer-policy': 'no-referrer' });
  }
  const translations = readerLanguage(deps.pages, context, locale);
  return deps.pages.answer({
    title: translations.t('form_post.title'),
    translations,
    formTarget: target.redirectUri,
    // With `no-referrer`, browsers would post the form with `Origin: null`.
    headers: { 'referrer-policy': 'strict-origin' },
    content: <FormPostPage translations={translations} redirectUri={target.redirectUri} fields={fields} />,
  });
}

type RespondingClient = Pick<Client, 'identifier' | 'authorizationSignedResponseAlg'>;

/** Returns the parameters, or `response` with all of them in a JWT (JARM 2.1, 2.3). */
async function fieldsFor(
  { clock, config, signingKeys }: PageDeps,
  { identifier, authorizationSignedResponseAlg: alg }: RespondingClient,
  target: ResponseTarget,
  result: AuthorizationResult,
): Promise<ResponseFields> {
  const fields = responseFields(target, config.http.issuer, result);
  if (!isSignedMode(target.responseMode)) return fields;
  const claims = signedResponseClaims(fields, { audience: identifier, now: clock.now() });
  return [['response', await signingKeys.signJwt(claims, { alg })]];
}

/** Responds to a request that has already ended: 409 or 410 (oauth 7.3 steps 2 and 3). */
export async function respondFinished(
  deps: AuthorizationDeps,
  context: RequestContext,
  opened: Exclude<Opened, { readonly state: 'open' }>,
): Promise<HttpResponse> {
  if (opened.state === 'expired') return await showExpired(deps, context, opened);
  if (!opened.isOpening) throw new LatchkeyError('already_used');
  const translations = readerLanguage(deps.pages, context, undefined);
  return deps.pages.answer({
    status: 409,
    title: translations.t('consent.opening.title'),
    translations,
    content: <OpeningPage translations={translations} />,
  });
}

const TOO_LATE: AuthorizationResult = { kind: 'error', error: 'access_denied', description: 'the request expired' };

async function showExpired(
  deps: AuthorizationDeps,
  context: RequestContext,
  opened: Extract<Opened, { readonly state: 'expired' }>,
): Promise<HttpResponse> {
  const translations = readerLanguage(deps.pages, context, opened.grant.locale);
  const { target } = opened.grant;
  const way = opened.client === undefined ? undefined : await returnToClient(deps, opened.client, target, TOO_LATE);
  return deps.pages.answer({
    status: 410,
    title: translations.t('problem.expired.title'),
    translations,
    formActions: [target.redirectUri],
    content: <ExpiredPage translations={translations} returnToClient={way} />,
  });
}

/** Returns the link or form that takes the response to the client. */
export async function returnToClient(
  deps: PageDeps,
  client: RespondingClient,
  target: ResponseTarget,
  result: AuthorizationResult,
): Promise<ReturnToClient> {
  const fields = await fieldsFor(deps, client, target, result);
  if (deliveryOf(target.responseMode) !== 'form_post') return { kind: 'link', href: responseLocation(target, fields) };
  return { kind: 'form', action: target.redirectUri, fields };
}
