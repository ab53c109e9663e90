/**
 * A sign-in after its first factor, or a reauthentication in a session, in the browser that started it. A cookie names
 * the pending login. Every page that asks for a factor starts and ends with these functions.
 */

import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import type { KnownBrowser } from '#domain/browser-sessions/known-browsers.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { CompletionOutcome, CompletionRequest } from '#domain/login-completion/complete-login.ts';
import type { SessionCredentials } from '#domain/records/browser-session.ts';
import type { User } from '#domain/records/user.ts';
import { findPendingLogin, type PendingLogin } from '#domain/second-factors/pending-login.ts';
import { newId, parseId } from '#platform/base/ids.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';
import type { PageDeps } from './browser.ts';

const LOGIN_COOKIE: Cookie = { name: 'login', maxAgeSeconds: 600 };

/** Only this browser can continue it. */
export function rememberPendingLogin({ cookies }: Pick<RequestContext, 'cookies'>, id: PendingLoginId): void {
  cookies.set(LOGIN_COOKIE, id);
}

export function forgetPendingLogin({ cookies }: Pick<RequestContext, 'cookies'>): void {
  cookies.clear(LOGIN_COOKIE);
}

/** What a second factor is for: signing in, or reauthentication in this browser's session. */
export type Purpose = 'sign-in' | 'reauth';

export type OpenedLogin =
  | { readonly ok: true; readonly pending: PendingLogin }
  /** The response that replaces the page. */
  | { readonly ok: false; readonly answer: HttpResponse };

/**
 * Returns this browser's pending login, for every page that asks for a factor (browser-flows 4.1). The user is not
 * signed in yet, so the request has no requester.
 */
export async function openPendingLogin(
  deps: PageDeps,
  context: RequestContext,
  purpose: Purpose,
): Promise<OpenedLogin> {
  const { urls, viewers } = deps;
  const pending = await findWaiting(deps, context);
  if (pending === undefined || (pending.sessionId === undefined) !== (purpose === 'sign-in')) {
    return instead(startAgain(deps, context, purpose));
  }
  const viewer = await readUnnamed(viewers, context);
  const isActive = viewer.kind === 'active';
  if (purpose === 'sign-in' && isActive && viewer.user.id === pending.user.id) {
    return instead(redirect(urls.afterAuthentication(pending.action)));
  }
  // The session is not the one to be renewed.
  if (purpose === 'reauth' && !(isActive && viewer.session.id === pending.sessionId)) {
    return instead(startAgain(deps, context, purpose));
  }
  const { user } = pending;
  if (!user.isLocked && !user.isDeactivated) return { ok: true, pending };
  return instead(await showUnusable(deps, context, user, pending.action));
}

/** Starts over without any factor. @param action undefined for the one in the query */
export function startAgain(
  deps: PageDeps,
  context: RequestContext,
  purpose: Purpose,
  action = parsePostAuthAction(context.query, deps.config.protocolName),
): HttpResponse {
  forgetPendingLogin(context);
  if (purpose === 'reauth') return redirect(deps.urls.reauth(action));
  return redirect(deps.urls.login(action, undefined, deps.notices.field('login_expired')));
}

/** Returns what `completePendingLogin` and `openSessionWithFactor` need to know about the request. */
export function completionRequest(
  deps: PageDeps,
  context: RequestContext,
  trust?: CompletionRequest['trust'],
): CompletionRequest {
  return {
    address: context.clientAddress,
    userAgent: context.userAgent,
    knownBrowsers: deps.viewers.knownBrowsers(context),
    language: deps.pages.language(context).language,
    cookie: deps.viewers.cookie(context),
    trust,
  };
}

/**
 * Sets the cookies of a session that was opened or renewed, and redirects.
 * @param known what `trust` was for
 * @param target where the user continues
 */
export function finishLogin(
  deps: PageDeps,
  context: RequestContext,
  {
    session,
    user,
    purpose,
  }: { readonly session: SessionCredentials | undefined; readonly user: User; readonly purpose: Purpose },
  action: PostAuthAction | undefined,
  known?: readonly KnownBrowser[],
  target = deps.urls.afterAuthentication(action),
): HttpResponse {
  if (purpose === 'reauth') {
    if (session !== undefined) deps.viewers.rotate(context, session);
    context.setRequester({ kind: 'user', id: user.id, username: user.username }, { replace: true });
  } else if (session !== undefined) {
    deps.viewers.signIn(context, session, user, known);
  }
  forgetPendingLogin(context);
  deps.csrf.rotate(context);
  return redirect(target);
}

/** Returns the response if the last factor was correct but the user still cannot be signed in. */
export async function refuseLogin(
  deps: PageDeps,
  context: RequestContext,
  pending: PendingLogin,
  outcome: Exclude<CompletionOutcome, { readonly ok: true }>,
): Promise<HttpResponse> {
  const purpose = pending.sessionId === undefined ? 'sign-in' : 'reauth';
  if (outcome.reason === 'not-open') return startAgain(deps, context, purpose, pending.action);
  forgetPendingLogin(context);
  return await showUnusable(deps, context, outcome.user, pending.action, outcome.reason);
}

async function showUnusable(
  deps: PageDeps,
  context: RequestContext,
  user: User,
  action: PostAuthAction | undefined,
  kind: 'locked' | 'deactivated' | 'ended' = user.isDeactivated ? 'deactivated' : 'locked',
): Promise<HttpResponse> {
  const destination = await findDestination(deps, action);
  return deps.interstitials.answer(
    context,
    { kind, user },
    {
      action,
      translations: deps.pages.language(context, destination?.uiLocales),
      formActions: destinationFormActions(destination),
    },
  );
}

function instead(response: HttpResponse): OpenedLogin {
  return { ok: false, answer: response };
}

/** Returns the pending login that the cookie names, of either purpose. Its account may have been locked since. */
export async function findWaiting(
  { clock, config, database }: Pick<PageDeps, 'clock' | 'config' | 'database'>,
  context: RequestContext,
): Promise<PendingLogin | undefined> {
  const id = loginIdOf(context);
  const named = { protocolName: config.protocolName, now: clock.now() };
  return id === undefined ? undefined : await findPendingLogin(database, id, named);
}

/** Returns the viewer without setting the requester. */
export async function readUnnamed(viewers: PageDeps['viewers'], context: RequestContext): Promise<Viewer> {
  const { cookies, clientAddress, headers, userAgent } = context;
  return await viewers.read({
    cookies,
    clientAddress,
    headers,
    userAgent,
    setRequester: () => {},
    requireWork: () => {},
  });
}

/**
 * Returns the ID in the cookie, or creates it. Only the browser that asked for a passkey challenge may respond to it.
 */
export function ensureLoginId(context: RequestContext, now: number): PendingLoginId {
  const known = loginIdOf(context);
  if (known !== undefined) return known;
  const id = newId<'pending-login'>(now);
  rememberPendingLogin(context, id);
  return id;
}

/** Returns the ID in the cookie, whether or not the pending login exists. */
export function loginIdOf({ cookies }: Pick<RequestContext, 'cookies'>): PendingLoginId | undefined {
  const value = cookies.open(LOGIN_COOKIE);
  return typeof value === 'string' ? parseId<'pending-login'>(value) : undefined;
}
