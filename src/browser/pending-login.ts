/**
 * A sign-in after its first factor, or an authentication again in a session, in the browser that began it: a cookie
 * names the pending login, and every page that asks for a factor begins and ends with what is here.
 */
import type { User } from '#domain/accounts/user.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import type { SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import type { KnownBrowser } from '#domain/browser-sessions/known-browsers.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { CompletionOutcome, CompletionRequest } from '#domain/login-completion/complete-login.ts';
import { findPendingLogin, type PendingLogin } from '#domain/pending-logins/pending-login.ts';
import { newId, type PendingLoginId, parseId } from '#platform/base/ids.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { PageDeps } from './browser.ts';

const LOGIN_COOKIE: Cookie = { name: 'login', maxAgeSeconds: 600 };

/** Only this browser can go on with it. */
export function rememberPendingLogin({ cookies }: Pick<RequestContext, 'cookies'>, id: PendingLoginId): void {
  cookies.set(LOGIN_COOKIE, id);
}

export function forgetPendingLogin({ cookies }: Pick<RequestContext, 'cookies'>): void {
  cookies.clear(LOGIN_COOKIE);
}

/** What a further factor is for: signing in, or a fresh authentication of the session of this browser. */
export type Purpose = 'sign-in' | 'reauth';

export type OpenedLogin =
  | { readonly ok: true; readonly pending: PendingLogin }
  /** The answer in place of the page. */
  | { readonly ok: false; readonly answer: HttpResponse };

/**
 * The pending login of this browser, for every page that asks for a factor (browser-flows 4.1). Nobody is signed in by
 * it, so the request is attributed to nobody.
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
  // Another session than the one that was to be renewed.
  if (purpose === 'reauth' && !(isActive && viewer.session.id === pending.sessionId)) {
    return instead(startAgain(deps, context, purpose));
  }
  const { user } = pending;
  if (!user.isLocked && !user.isDeactivated) return { ok: true, pending };
  return instead(await showUnusable(deps, context, user, pending.action));
}

/** As if nothing had been given yet. @param action undefined: that of the query */
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

/** What `completePendingLogin` and `openSessionWithFactor` have to know of the request. */
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

/** Sets the cookies of a session that was opened or renewed, and leads on. @param known what `trust` was for */
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
): HttpResponse {
  if (purpose === 'reauth') {
    if (session !== undefined) deps.viewers.rotate(context, session);
    context.setRequester({ kind: 'user', id: user.id, username: user.username }, { replace: true });
  } else if (session !== undefined) {
    deps.viewers.signIn(context, session, user, known);
  }
  forgetPendingLogin(context);
  deps.csrf.rotate(context);
  return redirect(deps.urls.afterAuthentication(action));
}

/** The answer when the last factor was right and yet nobody is signed in. */
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

function instead(answer: HttpResponse): OpenedLogin {
  return { ok: false, answer };
}

/** The pending login that the cookie names, of either purpose; of an account that may be locked by now. */
export async function findWaiting(
  { clock, config, database }: Pick<PageDeps, 'clock' | 'config' | 'database'>,
  context: RequestContext,
): Promise<PendingLogin | undefined> {
  const id = loginIdOf(context);
  const named = { protocolName: config.protocolName, now: clock.now() };
  return id === undefined ? undefined : await findPendingLogin(database, id, named);
}

/** The viewer of a request that is attributed to nobody. */
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

/** What the cookie names, made if missing: a challenge for a passkey is answered by the browser that asked for it. */
export function ensureLoginId(context: RequestContext, now: number): PendingLoginId {
  const known = loginIdOf(context);
  if (known !== undefined) return known;
  const id = newId<'pending-login'>(now);
  rememberPendingLogin(context, id);
  return id;
}

/** What the cookie names, whether or not there is such a pending login. */
export function loginIdOf({ cookies }: Pick<RequestContext, 'cookies'>): PendingLoginId | undefined {
  const value = cookies.open(LOGIN_COOKIE);
  return typeof value === 'string' ? parseId<'pending-login'>(value) : undefined;
}
