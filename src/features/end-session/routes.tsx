/**
 * Signing out at a client's request (OpenID Connect RP-Initiated Logout 1.0), `GET` and `POST /oauth2/logout`.
 *
 * An ID token of the signed-in session authorizes the request. The browser session and the client's OAuth session then
 * end at once. Any other request asks the user: the form goes to `POST /logout` with the sealed request. The browser is
 * redirected only to a URI that the client has registered. OAuth sessions of other clients continue, unless those
 * clients registered for logout notifications (`signOut`).
 */
import type { Browser, PageDeps } from '#browser/browser.ts';
import { matchLanguages } from '#browser/i18n/negotiate-language.ts';
import { type LogoutRequest, postLogoutLocation, sealLogoutRequest } from '#browser/logout-request.ts';
import { SESSION_COOKIE, withoutLimit } from '#browser/viewer.ts';
import { type Viewer, type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import { clientName } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { statement } from '#platform/postgres/statement.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import type { OAuth2SessionId } from '#vocabulary/ids.ts';
import { checkLogoutRequest, openPostedRequest } from './check-request.ts';
import { ConfirmPage, SignedOutPage } from './end-session.page.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser };
  const page = { path: '/oauth2/logout', resource: 'oauth', errorFormat: 'page', priority: true } as const;
  return [
    { ...page, method: 'GET', headRefused: true, handle: (context) => handleRequest(deps, context) },
    { ...page, method: 'POST', formRules: 'protocol', handle: (context) => handlePost(deps, context) },
  ];
}

async function handleRequest(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { query } = context;
  const sealed = query.get('request');
  const request = sealed === undefined ? await checkLogoutRequest(deps, query) : openPostedRequest(deps, query, sealed);
  const { viewer, isProven: isVerified } = await readViewer(deps, context, request);
  switch (viewer.kind) {
    case 'anonymous':
      return await handleSignedOut(deps, context, request);
    case 'ended':
      context.cookies.clear(SESSION_COOKIE);
      return await handleSignedOut(deps, context, request);
    default:
      if (!isVerified || request.oauthSessionId === undefined) return await askUser(deps, context, request, viewer);
      await signOutViewer(deps, context, viewer, request.oauthSessionId);
      return redirect((await postLogoutLocation(deps.clients, request)) ?? deps.urls.endSession());
  }
}

/**
 * Checks a posted request, which continues with a GET. Browsers do not send the session cookie with a form from another
 * site. The URL contains the result of the check, not the ID token.
 */
async function handlePost(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const request = await checkLogoutRequest(deps, form);
  const sealed = sealLogoutRequest(deps.keyRing, 'posted', request, deps.clock.now());
  const language = matchLanguages(form.get('ui_locales'), deps.languages);
  const fields: [string, string][] = [['request', sealed]];
  if (language !== undefined) fields.push(['ui_locales', language]);
  return redirect(deps.urls.endSession(fields));
}

/** A user whose session has not ended. The account may be locked or deactivated. */
type SignedIn = Exclude<Viewer, { readonly kind: 'anonymous' | 'ended' }>;

async function readViewer(
  deps: PageDeps,
  context: RequestContext,
  { clientId, oauthSessionId }: LogoutRequest,
): Promise<{ readonly viewer: Viewer; readonly isProven: boolean }> {
  const cookie = deps.viewers.cookie(context);
  if (cookie === undefined) return { viewer: { kind: 'anonymous' }, isProven: false };
  const row = await deps.database.first(readViewerAndHint, {
    browserSessionId: toUuid(cookie.id),
    oauthSessionId: oauthSessionId === undefined ? null : toUuid(oauthSessionId),
    clientId: clientId === undefined ? null : toUuid(clientId),
  });
  return { viewer: await deps.viewers.accept(withoutLimit(context), row), isProven: row?.is_proven ?? false };
}

/**
 * Reads the viewer, and whether the session of the hint is live and belongs to the viewer's session. Uses primary keys.
 */
const readViewerAndHint = statement<
  ViewerRow & { readonly is_proven: boolean },
  {
    readonly browserSessionId: string;
    readonly oauthSessionId: string | null;
    readonly clientId: string | null;
  }
>(
  'end-session.viewer-and-hint',
  `select ${viewerColumns}, hinted.id is not null as is_proven
     from (select 1) as one
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_sessions hinted
       on hinted.id = :oauthSessionId::uuid
      and hinted.client_id = :clientId::uuid
      and hinted.user_session_id = viewer_session.id
      and ${oauthSessionIsLive('hinted')}`,
);

async function signOutViewer(
  deps: PageDeps,
  context: RequestContext,
  viewer: SignedIn,
  oauthSessionId: OAuth2SessionId,
): Promise<void> {
  const { id, username } = viewer.user;
  context.setRequester({ kind: 'user', id, username });
  await signOut(deps, {
    userId: id,
    reason: 'logout',
    which: viewer.kind === 'active' ? viewer.session.id : viewer.sessionId,
    oauthSessionId,
    now: deps.clock.now(),
    address: context.clientAddress,
    userAgent: context.userAgent,
  });
  deps.viewers.forget(context);
  deps.csrf.rotate(context);
}

/**
 * Responds when the user is signed out: redirects to the client, or shows a page. Anyone can send a browser here with a
 * client's registered redirect URI. An automatic redirect therefore requires an ID token of a client from the
 * configuration (RFC 9700 4.11.2, RP-Initiated Logout 1.0 3). Otherwise the page shows the host.
 */
async function handleSignedOut(deps: PageDeps, context: RequestContext, request: LogoutRequest): Promise<HttpResponse> {
  const location = await postLogoutLocation(deps.clients, request);
  if (location !== undefined && (await isTrusted(deps, request))) return redirect(location);
  const translations = deps.pages.language(context);
  return deps.pages.answer({
    title: translations.t('end_session.done.title'),
    translations,
    content: (
      <SignedOutPage
        translations={translations}
        loginPath={deps.urls.login()}
        onward={location === undefined ? undefined : { href: location, host: redirectTarget(location) }}
      />
    ),
  });
}

async function isTrusted({ clients }: PageDeps, { clientId, oauthSessionId }: LogoutRequest): Promise<boolean> {
  if (clientId === undefined || oauthSessionId === undefined) return false;
  return (await clients.find(clientId))?.isVouchedFor === true;
}

/** Another site may have sent the user here, so the user must confirm (security S-67). */
async function askUser(
  deps: PageDeps,
  context: RequestContext,
  request: LogoutRequest,
  viewer: SignedIn,
): Promise<HttpResponse> {
  const { csrf, pages, urls } = deps;
  const translations = pages.language(context);
  const { redirectUri } = request;
  return pages.answer({
    title: translations.t('end_session.title'),
    translations,
    // The form redirects to the client. Browsers check that against `form-action` (decision 0005).
    formActions: redirectUri === undefined ? [] : [redirectUri],
    content: (
      <ConfirmPage
        translations={translations}
        serviceName={deps.config.branding.serviceName}
        clientName={await nameOfClient(deps, request, translations.language)}
        user={viewer.user}
        logoutPath={urls.logout()}
        csrf={csrf.field(context)}
        logoutRequest={sealLogoutRequest(deps.keyRing, 'confirmation', request, deps.clock.now())}
        stayPath={urls.index()}
      />
    ),
  });
}

/**
 * Returns the name of a client from the configuration. Other clients can choose any name, so they are shown by host.
 */
async function nameOfClient(deps: PageDeps, request: LogoutRequest, language: string): Promise<string | undefined> {
  const client = request.clientId === undefined ? undefined : await deps.clients.find(request.clientId);
  const name = client?.isVouchedFor === true ? clientName(client, language) : undefined;
  return name ?? (request.redirectUri === undefined ? undefined : redirectTarget(request.redirectUri));
}
