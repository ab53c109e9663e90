import { matchLanguages } from '#browser/negotiate-language.ts';
import { query } from '#browser/urls.ts';
import { createAuthorizationGrant } from '#domain/authorizations/create-authorization-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type AuthorizationGrantId, parseId, toUuid, type UserId } from '#platform/base/ids.ts';
import { describeError } from '#platform/base/log.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import {
  type AuthorizationRequest,
  checkAuthorizationRequest,
  repeatedDecisiveParameter,
} from '#protocol/oauth/authorization-parameters.ts';
import type { ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import { bindGrant, sealBindTicket } from './browser-binding.ts';
import { answerClient } from './client-responses.tsx';
import { expectedUser } from './expected-user.ts';
import { type AuthorizationDeps, continuation } from './flow.ts';
import { nextStep } from './next-step.ts';
import { readViewerAndConsent } from './queries.ts';
import { logRefusal } from './refusal-log.ts';
import { fulfillFlow, leadToRegistration, loginHint } from './take-step.tsx';

/** A request that passed every check which needs no database. */
interface AcceptedRequest {
  readonly client: Client;
  readonly request: AuthorizationRequest;
  /** The one account that may answer; undefined: whoever signs in. */
  readonly expectedUserId: UserId | undefined;
  /** Of the installed languages the one that the client asked for. */
  readonly locale: string | undefined;
}

/**
 * An authorization request by GET: stored, unless it can be refused at once, and answered by the address of the next
 * step, or by the code when nothing is missing.
 */
export async function requestByGet(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const parameters = FormParameters.parse(context.rawQuery);
  if (parameters === undefined) {
    const description = 'the query cannot be decoded: it has to be form-encoded UTF-8 without NUL';
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined });
    throw unknownClient();
  }
  const accepted = await checkRequest(deps, context, parameters);
  if (!('client' in accepted)) return accepted;
  return await redirectingFaults(deps, context, accepted.request.target, () => beginFlow(deps, context, accepted));
}

/**
 * The same by POST (OpenID Connect Core 1.0 3.1.2.1). It may come from any site, so nothing is read from cookies: the
 * address it leads to does that, and learns by a ticket that this browser has just asked.
 */
export async function requestByPost(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<HttpResponse> {
  const accepted = await checkRequest(deps, context, parameters);
  if (!('client' in accepted)) return accepted;
  return await redirectingFaults(deps, context, accepted.request.target, async () => {
    const now = deps.clock.now();
    const id = await storeGrant(deps, context, accepted, undefined, now);
    return redirect(deps.urls.authorizationGrant(id) + query([['bind', sealBindTicket(deps.keyRing, id, now)]]));
  });
}

/** Steps 1 to 14 of oauth 6.3. Throws what is answered by a page; a redirect with an error comes back as answer. */
async function checkRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<AcceptedRequest | HttpResponse> {
  const repeated = repeatedDecisiveParameter(parameters);
  if (repeated !== undefined) {
    const description = `${repeated} is given more than once`;
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined, parameters });
    throw new LatchkeyError('invalid_request', { description });
  }
  const clientId = parseId<'client'>(parameters.get('client_id') ?? '');
  const client = clientId === undefined ? undefined : await deps.clients.find(clientId);
  if (client === undefined) {
    const isMalformed = clientId === undefined;
    logRefusal(deps.log, {
      code: 'invalid_request',
      description: isMalformed ? 'client_id is no id of a client' : 'client_id names no client, or a disabled one',
      client: undefined,
      parameters,
      expected: 'a client_id of the configuration, 26 characters',
    });
    throw unknownClient();
  }
  const requesting = { ...client, isPublic: client.authMethod === 'none' };
  const checked = checkAuthorizationRequest(parameters, requesting, deps.scopeRules);
  const locale = matchLanguages(parameters.get('ui_locales'), deps.languages);
  switch (checked.kind) {
    case 'page':
      logRefusal(deps.log, { ...checked, code: checked.error, client, parameters });
      throw new LatchkeyError(checked.error, { description: checked.description });
    case 'redirect':
      logRefusal(deps.log, { ...checked, code: checked.error, client, parameters });
      return answerClient(deps, context, checked.target, checked, locale);
    case 'accepted': {
      const { request } = checked;
      const expected = expectedUser(deps, client, request);
      if (!expected.ok) {
        const { error, description } = expected;
        logRefusal(deps.log, { code: error, description, client, parameters });
        return answerClient(deps, context, request.target, expected, locale);
      }
      return { client, request, expectedUserId: expected.userId, locale };
    }
  }
}

/** One answer for whatever names no client, so that it tells nothing about those there are (security S-06). */
function unknownClient(): LatchkeyError {
  return new LatchkeyError('invalid_request', {
    description:
      'the request cannot be decoded, or its client_id names no client here; the log of the service says what it received',
  });
}

async function beginFlow(
  deps: AuthorizationDeps,
  context: RequestContext,
  accepted: AcceptedRequest,
): Promise<HttpResponse> {
  const { client, request, expectedUserId, locale } = accepted;
  const { database, viewers, urls } = deps;
  const now = deps.clock.now();
  const cookie = viewers.cookie(context);
  const row =
    cookie === undefined
      ? undefined
      : await database.first(readViewerAndConsent, {
          browserSessionId: toUuid(cookie.id),
          clientId: toUuid(client.id),
        });
  const viewer = await viewers.accept(context, row);
  const facts = {
    request: { ...request, expectedUserId, locale, createdAt: now },
    client,
    viewer,
    remembered: row?.consent_scope ?? [],
    isBound: true,
    isRegistrationOffered: false,
    decision: undefined,
    now,
  };
  const step = nextStep(facts, deps);
  // Nothing is stored for a request that ends here (security S-10).
  if (step.kind === 'refuse') {
    const { redirectUri } = request.target;
    logRefusal(deps.log, { code: step.error, description: step.description, client, redirectUri });
    return answerClient(deps, context, request.target, step, locale);
  }

  const id = await storeGrant(deps, context, accepted, viewer.kind === 'active' ? viewer.user.id : undefined, now);
  bindGrant(context, id, now);
  switch (step.kind) {
    case 'login':
      return redirect(urls.login(continuation(id), await loginHint(deps, facts.request)));
    case 'register':
      return await leadToRegistration(deps, { id, loginHint: request.loginHint });
    case 'reauth':
      return redirect(urls.reauth(continuation(id)));
    case 'other-account':
    case 'consent':
      return redirect(urls.consent(id));
    case 'fulfill':
      // The page that posts the response has an address of its own, where a reload cannot ask anew.
      if (request.target.responseMode === 'form_post') return redirect(urls.authorizationGrant(id));
      return await fulfillFlow(deps, context, { grant: { ...facts.request, id }, client }, step.viewer, false);
    case 'interstitial':
    case 'forbidden':
    case 'cancel':
      return redirect(urls.authorizationGrant(id));
  }
}

async function storeGrant(
  deps: AuthorizationDeps,
  context: RequestContext,
  { client, request, expectedUserId, locale }: AcceptedRequest,
  userId: UserId | undefined,
  now: number,
): Promise<AuthorizationGrantId> {
  const id = await createAuthorizationGrant(deps.database, {
    clientId: client.id,
    request,
    expectedUserId,
    locale,
    address: context.clientAddress,
    userId,
    now,
    lifetimeSeconds: deps.config.oauth.authorizationGrantTtlSeconds,
  });
  if (id === undefined) {
    const description = 'too many authorization requests of this address or user led to nothing in the last hour';
    logRefusal(deps.log, { code: 'rate_limited', description, client, redirectUri: request.target.redirectUri });
    throw new LatchkeyError('rate_limited', { description });
  }
  return id;
}

/**
 * Once the client's address is proven, it is the client that learns of our defects (RFC 6749 4.1.2.1). Overload is a
 * page with status 503, on which the person can try again: a client that is told so would only send the next request.
 */
async function redirectingFaults(
  deps: AuthorizationDeps,
  context: RequestContext,
  target: ResponseTarget,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof LatchkeyError ? error.code : 'internal';
    if (code !== 'internal') throw error;
    deps.log.error('error', 'an authorization request could not be answered', describeError(error));
    const description = `internal error, reference ${context.task.id}`;
    return answerClient(deps, context, target, { error: 'server_error', description });
  }
}
