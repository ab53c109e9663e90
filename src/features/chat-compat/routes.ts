/**
 * Routes for chat clients that sign in with their own protocol (chat-compat 3 to 9). `login`, `logout` and `refresh`
 * below `/_{protocol}/client/{version}/` neither read nor set cookies, allow cross-origin calls from every origin, and
 * return errors as `{ errcode, error }`. Nothing depends on the version. Single sign-on is the part that users see:
 * `login/sso/redirect` there, and `/complete-compat-sso/{grant_id}`.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { showSso, submitSso } from './complete-sso.tsx';
import { countResult, sessionLabel } from './count-results.ts';
import { logOutEverywhere, logOutHere } from './log-out.ts';
import { logIn } from './login.ts';
import { loginFlows } from './login-flows.ts';
import { refreshTokens } from './refresh.ts';
import { beginSso } from './sso-redirect.ts';

/** Up to five seconds for the user's lease, and for each of three homeserver calls. */
const LOGIN_SECONDS = 30;

export function mount(core: Core, browser: Browser): Route[] {
  const { urls } = browser;
  const { account, compat, experimental, homeserver, oauth, protocolName } = core.config;
  if (!compat.enabled) return [];
  const names = chatNames(protocolName);
  const route = { resource: 'compat', errorFormat: 'chat-json', cors: 'chat', capacity: 'sign-in' } as const;
  const loginRules = {
    serverName: homeserver.homeserver,
    isEmailAllowed: account.loginWithEmailAllowed,
    isPasswordAllowed: compat.passwordLogin,
  };
  const accessTokenTtlSeconds = experimental.compatTokenTtlSeconds;
  const refreshRules = {
    accessTokenTtlSeconds,
    graceSeconds: oauth.refreshGraceSeconds,
    get keys() {
      return core.keyRing.deriveAll('refresh-rotation');
    },
    syncsDevices: core.homeserver.isConnected,
  };
  const pageDeps = { ...core, ...browser };
  // HEAD would insert a row too.
  const ssoRedirect = { resource: 'compat', errorFormat: 'page', method: 'GET', headRefused: true } as const;
  const completeSso = { resource: 'human', errorFormat: 'page', path: '/complete-compat-sso/:grant_id' } as const;
  const deps = { ...core, urls, loginRules, accessTokenTtlSeconds, refreshRules };
  return [
    {
      ...route,
      method: 'GET',
      path: `${names.pathPrefix}client/:version/login`,
      handle: () => loginFlows(core, loginRules),
    },
    {
      ...route,
      method: 'POST',
      ...(core.homeserver.isConnected && { timeLimitSeconds: LOGIN_SECONDS }),
      path: `${names.pathPrefix}client/:version/login`,
      handle: (context) => logIn(deps, context),
    },
    {
      ...route,
      method: 'POST',
      path: `${names.pathPrefix}client/:version/logout`,
      handle: (context) => counted('latchkey_compat_logout_total', context, logOutHere(core, context)),
    },
    {
      ...route,
      method: 'POST',
      path: `${names.pathPrefix}client/:version/logout/all`,
      handle: (context) => counted('latchkey_compat_logout_all_total', context, logOutEverywhere(core, context)),
    },
    {
      ...route,
      method: 'POST',
      path: `${names.pathPrefix}client/:version/refresh`,
      handle: (context) => refreshTokens(deps, context),
    },
    {
      ...ssoRedirect,
      path: `${names.pathPrefix}client/:version/login/sso/redirect`,
      handle: (context) => beginSso(pageDeps, context),
    },
    {
      ...ssoRedirect,
      path: `${names.pathPrefix}client/:version/login/sso/redirect/`,
      handle: (context) => beginSso(pageDeps, context),
    },
    {
      ...ssoRedirect,
      path: `${names.pathPrefix}client/:version/login/sso/redirect/:idp`,
      handle: (context) => beginSso(pageDeps, context),
    },
    { ...completeSso, method: 'GET', handle: (context) => showSso(pageDeps, context) },
    { ...completeSso, method: 'POST', handle: (context) => submitSso(pageDeps, context) },
  ];
}

async function counted(
  name: 'latchkey_compat_logout_total' | 'latchkey_compat_logout_all_total',
  context: RequestContext,
  response: Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (metrics === undefined) return await response;
  return await countResult(response, (result) => metrics?.count(name, { type: sessionLabel(context), result }));
}
