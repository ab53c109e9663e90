/**
 * Signing out of this browser, or of all browsers (`POST /logout`). Clients that registered for logout are notified,
 * and their OAuth sessions end. Other sessions continue. The form of `/oauth2/logout` posts here with the client's
 * sealed request, and then redirects to that client.
 */
import type { Browser, PageDeps } from '#browser/browser.ts';
import {
  LOGOUT_REQUEST_FIELD,
  type LogoutRequest,
  openLogoutRequest,
  postLogoutLocation,
} from '#browser/logout-request.ts';
import { forgetPendingLogin } from '#browser/pending-login.ts';
import { SESSION_COOKIE, withoutLimit } from '#browser/viewer.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { Core } from '#domain/core.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { type PostAuthAction, parsePostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import { LogoutPage } from './logout.page.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser };
  const page = { path: '/logout', resource: 'human', errorFormat: 'page' } as const;
  return [
    { ...page, method: 'GET', isRefusal: true, handle: (context) => showLogout(deps, context) },
    { ...page, method: 'POST', handle: (context) => submitLogout(deps, context) },
  ];
}

/** Returns 405, because a GET must not sign out. The page has a button for users who typed the URL. */
function showLogout(deps: PageDeps, context: RequestContext): HttpResponse {
  return respondWithButton(deps, context, { status: 405, headers: { allow: 'POST, OPTIONS' } });
}

async function submitLogout(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = parsePostAuthAction(form, deps.config.protocolName);
  const isEverywhere = form.get('scope') === EVERYWHERE;
  const sealed = form.get(LOGOUT_REQUEST_FIELD);
  const request = sealed === undefined ? undefined : openLogoutRequest(deps.keyRing, 'confirmation', sealed)?.request;
  if (isExpired) {
    const expired = { action, isEverywhere, sealed, redirectUri: request?.redirectUri };
    return respondWithButton(deps, context, { status: 200, expired });
  }

  const viewer = await deps.viewers.read(withoutLimit(context));
  if (viewer.kind === 'anonymous' || viewer.kind === 'ended') context.cookies.clear(SESSION_COOKIE);
  else await signOutViewer(deps, context, viewer, isEverywhere);
  forgetPendingLogin(context);
  deps.csrf.rotate(context);
  return redirect(await nextAddress(deps, action, request));
}

async function nextAddress(
  deps: PageDeps,
  action: PostAuthAction | undefined,
  request: LogoutRequest | undefined,
): Promise<string> {
  if (request !== undefined) return (await postLogoutLocation(deps.clients, request)) ?? deps.urls.endSession();
  return action === undefined ? deps.urls.login() : deps.urls.afterAuthentication(action);
}

const EVERYWHERE = 'everywhere';

async function signOutViewer(
  deps: PageDeps,
  context: RequestContext,
  viewer: Exclude<Viewer, { readonly kind: 'anonymous' }>,
  isEverywhere: boolean,
): Promise<void> {
  const { id, username } = viewer.user;
  context.setRequester({ kind: 'user', id, username });
  const sessionId = viewer.kind === 'active' ? viewer.session.id : viewer.sessionId;
  await signOut(deps, {
    userId: id,
    which: isEverywhere && viewer.kind === 'active' ? 'all' : sessionId,
    reason: 'logout',
    now: deps.clock.now(),
    address: context.clientAddress,
    userAgent: context.userAgent,
  });
  deps.viewers.forget(context);
}

interface ExpiredForm {
  readonly action: PostAuthAction | undefined;
  readonly isEverywhere: boolean;
  /** The client's request as received, and where it leads. */
  readonly sealed: string | undefined;
  readonly redirectUri: string | undefined;
}

function respondWithButton(
  deps: PageDeps,
  context: RequestContext,
  options: {
    readonly status: number;
    readonly headers?: HttpResponse['headers'];
    /** The expired form. */
    readonly expired?: ExpiredForm;
  },
): HttpResponse {
  const { status, headers = {}, expired } = options;
  const translations = deps.pages.language(context);
  const problems =
    expired === undefined ? [] : [{ code: 'csrf_expired', message: translations.t('form.csrf_expired') }];
  const fields = postAuthActionFields(expired?.action);
  if (expired?.isEverywhere === true) fields.push(['scope', EVERYWHERE]);
  if (expired?.sealed !== undefined) fields.push([LOGOUT_REQUEST_FIELD, expired.sealed]);
  return deps.pages.answer({
    status,
    headers,
    title: translations.t('logout.title'),
    translations,
    isRejected: problems.length > 0,
    formActions: expired?.redirectUri === undefined ? [] : [expired.redirectUri],
    content: (
      <LogoutPage
        translations={translations}
        logoutPath={deps.urls.logout()}
        csrf={deps.csrf.field(context)}
        problems={problems}
        fields={fields}
      />
    ),
  });
}
