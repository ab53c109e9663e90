import { findUser } from '#domain/accounts/find-user.ts';
import type { AuthorizationGrant } from '#domain/authorizations/authorization-grant.ts';
import { type CancelReason, cancelAuthorizationGrant } from '#domain/authorizations/cancel-authorization-grant.ts';
import { fulfillAuthorizationGrant } from '#domain/authorizations/fulfill-authorization-grant.ts';
import { recordRegistrationOffer } from '#domain/authorizations/record-progress.ts';
import type { Client } from '#domain/clients/client.ts';
import { rememberableScopes } from '#domain/clients/consents.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type AuthorizationResult, responseFields, responseLocation } from '#protocol/oauth/authorization-response.ts';
import { answerClient } from './client-responses.tsx';
import { consentScopes } from './consent-needed.ts';
import { showForbidden } from './decision-pages.tsx';
import { ExpiredPage, OpeningPage, type WayBack } from './finished.page.tsx';
import { type AuthorizationDeps, continuation, type Flow, type Opened } from './flow.ts';
import type { ActiveViewer, Step } from './next-step.ts';
import { readerLanguage } from './reader-language.ts';
import { logRefusal } from './refusal-log.ts';

/** What cannot go on any more: 409 or 410 (oauth 7.3, steps 2 and 3). */
export function answerFinished(
  deps: AuthorizationDeps,
  context: RequestContext,
  opened: Exclude<Opened, { readonly state: 'open' }>,
): HttpResponse {
  if (opened.state === 'expired') return showExpired(deps, context, opened);
  if (!opened.isOpening) throw new LatchkeyError('already_used');
  const translations = readerLanguage(deps.pages, context, undefined);
  return deps.pages.answer({
    status: 409,
    title: translations.t('consent.opening.title'),
    translations,
    content: <OpeningPage translations={translations} />,
  });
}

/** Carries out a step of a stored request: the next address, a page, or the response to the client. */
export async function takeStep(
  deps: AuthorizationDeps,
  context: RequestContext,
  flow: Flow,
  step: Step,
): Promise<HttpResponse> {
  const { grant } = flow;
  switch (step.kind) {
    case 'login':
      return redirect(deps.urls.login(continuation(grant.id), await loginHint(deps, grant)));
    case 'register':
      return await leadToRegistration(deps, grant);
    case 'reauth':
      return redirect(deps.urls.reauth(continuation(grant.id)));
    case 'interstitial':
      return deps.interstitials.answer(context, step.viewer, {
        action: continuation(grant.id),
        translations: readerLanguage(deps.pages, context, grant.locale),
        formActions: [grant.target.redirectUri],
      });
    case 'forbidden':
      logStepRefusal(deps, flow, 'access_denied', 'the user may not grant an admin scope');
      return showForbidden(deps, context, flow, step.viewer, step.scopes);
    case 'other-account':
    case 'consent':
      return redirect(deps.urls.consent(grant.id));
    case 'cancel':
      return await cancelFlow(deps, context, flow, 'user');
    case 'refuse':
      logStepRefusal(deps, flow, step.error, step.description);
      return await cancelFlow(deps, context, flow, 'silent-refused', step);
    case 'fulfill':
      return await fulfillFlow(deps, context, flow, step.viewer, step.isDecided);
  }
}

function logStepRefusal(deps: AuthorizationDeps, { client, grant }: Flow, code: string, description: string): void {
  logRefusal(deps.log, { code, description, client, redirectUri: grant.target.redirectUri });
}

/** What the sign-in page proposes: the client's own hint, else the name of the account that it expects. */
export async function loginHint(
  deps: Pick<AuthorizationDeps, 'database'>,
  request: Pick<AuthorizationGrant, 'loginHint' | 'expectedUserId'>,
): Promise<string | undefined> {
  if (request.loginHint !== undefined || request.expectedUserId === undefined) return request.loginHint;
  return (await findUser(deps.database, request.expectedUserId))?.username;
}

/** The one way to register that there is (oauth 7.3, steps 5 and 8). */
export async function leadToRegistration(
  deps: AuthorizationDeps,
  { id, loginHint }: Pick<AuthorizationGrant, 'id' | 'loginHint'>,
): Promise<HttpResponse> {
  await recordRegistrationOffer(deps.database, id);
  const hint: [string, string][] = loginHint === undefined ? [] : [['login_hint', loginHint]];
  return redirect(deps.urls.registerWithPassword(continuation(id), hint));
}

/** What a code is made from. */
export interface FulfillableFlow {
  readonly grant: Pick<AuthorizationGrant, 'id' | 'claims' | 'locale' | 'scope' | 'target'>;
  readonly client: Client;
}

/** Makes the code and hands it to the client. */
export async function fulfillFlow(
  deps: AuthorizationDeps,
  context: RequestContext,
  flow: FulfillableFlow,
  viewer: ActiveViewer,
  isDecided: boolean,
): Promise<HttpResponse> {
  const { grant, client } = flow;
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
    address: context.clientAddress,
    userAgent: context.userAgent,
    now: clock.now(),
  });
  if (code !== undefined) return answerClient(deps, context, grant.target, { code }, grant.locale);
  // The grant, the session, the account or the client changed since they were read: the steps find out which.
  deps.clients.forget(client.id);
  return redirect(deps.urls.authorizationGrant(grant.id));
}

const CANCELLED: AuthorizationResult = { error: 'access_denied', description: 'the user cancelled the request' };

/** Ends the grant and tells the client why. */
export async function cancelFlow(
  deps: AuthorizationDeps,
  context: RequestContext,
  { grant }: Flow,
  reason: CancelReason,
  result: AuthorizationResult = CANCELLED,
): Promise<HttpResponse> {
  const isCancelled = await cancelAuthorizationGrant(deps.database, grant.id, reason, deps.clock.now());
  if (!isCancelled) throw new LatchkeyError('already_used');
  return answerClient(deps, context, grant.target, result, grant.locale);
}

const TOO_LATE: AuthorizationResult = { error: 'access_denied', description: 'the request expired' };

function showExpired(
  deps: AuthorizationDeps,
  context: RequestContext,
  opened: Extract<Opened, { readonly state: 'expired' }>,
): HttpResponse {
  const translations = readerLanguage(deps.pages, context, opened.grant.locale);
  const { target } = opened.grant;
  return deps.pages.answer({
    status: 410,
    title: translations.t('problem.expired.title'),
    translations,
    formActions: [target.redirectUri],
    content: (
      <ExpiredPage
        translations={translations}
        wayBack={opened.client === undefined ? undefined : wayBack(deps.config.http.issuer, target)}
      />
    ),
  });
}

function wayBack(issuer: string, target: Parameters<typeof responseFields>[0]): WayBack {
  if (target.responseMode !== 'form_post') return { kind: 'link', href: responseLocation(target, issuer, TOO_LATE) };
  const fields = responseFields(target, issuer, TOO_LATE).map(([name, value]): [string, string] => [name, value]);
  return { kind: 'form', action: target.redirectUri, fields };
}
