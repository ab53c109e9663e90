/**
 * Self-registration (browser-flows 5):
 *
 * - `GET`, `POST /register`: the entry
 * - `GET`, `POST /register/password`: username and password; starts a registration
 * - `GET`, `POST /register/steps/{id}/token`: if accounts need an invitation
 * - `GET`, `POST /register/steps/{id}/verify-email`: verifies the email address with a code
 * - `GET`, `POST /register/steps/{id}/display-name`
 * - `GET`, `POST /register/steps/{id}/username`: if the name was taken in the meantime
 * - `GET /register/steps/{id}/finish`: redirects to the missing step, or creates the account and signs in
 *
 * A registration is a row (`domain/accounts/registrations`) that is open, completed or expired. Only the browser that
 * started it can continue it. The continuation (PostAuthAction) comes with the query and is then stored in the row.
 */

import type { Browser } from '#browser/browser.ts';
import { rememberPendingLogin } from '#browser/pending-login.ts';
import { boundRegistration } from '#browser/registrations-cookie.ts';
import { forgetEntry } from '#browser/upstream-cookie.ts';
import { finishRegistration } from '#domain/accounts/registrations/finish-registration.ts';
import { startBrowserSession } from '#domain/browser-sessions/start-browser-session.ts';
import type { Core } from '#domain/core.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { showDisplayName, submitDisplayName } from './display-name.tsx';
import { showEmailInUse } from './email-in-use.tsx';
import { showHomeserverLate } from './homeserver-late.tsx';
import { showRegister, submitRegister } from './register.tsx';
import { showPasswordForm, submitPasswordForm } from './register-with-password.tsx';
import { showRequesterBanned } from './requester-banned.tsx';
import { expired, notFound, type RegistrationDeps, registrationDeps } from './step.ts';
import { showToken, submitToken } from './token.tsx';
import { showUsername, submitUsername } from './username.tsx';
import { showVerifyEmail, submitVerifyEmail } from './verify-email.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = registrationDeps(core, browser);
  const page = { resource: 'human', errorFormat: 'page' } as const;
  const start = { ...page, path: '/register' };
  const password = { ...page, path: '/register/password' };
  const displayName = { ...page, path: '/register/steps/:id/display-name' };
  const token = { ...page, path: '/register/steps/:id/token' };
  const username = { ...page, path: '/register/steps/:id/username' };
  const verifyEmail = { ...page, path: '/register/steps/:id/verify-email' };
  const routes: Route[] = [
    { ...start, method: 'GET', handle: (context) => showRegister(deps, context) },
    { ...start, method: 'POST', handle: (context) => submitRegister(deps, context) },
    { ...password, method: 'GET', handle: (context) => showPasswordForm(deps, context) },
    { ...token, method: 'GET', handle: (context) => showToken(deps, context) },
    { ...token, method: 'POST', handle: (context) => submitToken(deps, context) },
    { ...verifyEmail, method: 'GET', handle: (context) => showVerifyEmail(deps, context) },
    { ...verifyEmail, method: 'POST', handle: (context) => submitVerifyEmail(deps, context) },
    { ...displayName, method: 'GET', handle: (context) => showDisplayName(deps, context) },
    { ...displayName, method: 'POST', handle: (context) => submitDisplayName(deps, context) },
    { ...username, method: 'GET', handle: (context) => showUsername(deps, context) },
    { ...username, method: 'POST', handle: (context) => submitUsername(deps, context) },
    {
      ...page,
      path: '/register/steps/:id/finish',
      method: 'GET',
      headRefused: true,
      handle: (context) => finish(deps, context),
    },
  ];
  if (deps.registrationMethods.password.isOpen)
    routes.push({ ...password, method: 'POST', handle: (context) => submitPasswordForm(deps, context) });
  return routes;
}

/**
 * `GET /register/steps/{id}/finish`: creates the account and signs the user in, or redirects to the missing step. Only
 * the new user becomes the requester. A user who was signed in in this browser is signed out.
 */
export async function finish(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { urls } = deps;
  const id = boundRegistration(context, context.params['id']);
  if (id === undefined) throw notFound(deps);
  const { clientAddress: address, userAgent } = context;
  const endFormerSession = await formerSessionEnder(deps, context);
  const outcome = await finishRegistration(deps, { id, address, userAgent, startBrowserSession, endFormerSession });
  if (outcome.ok) {
    const { entered } = outcome;
    if (entered.kind === 'setup') {
      // Signs the previous user out.
      deps.viewers.forget(context);
      rememberPendingLogin(context, entered.pending);
      deps.csrf.rotate(context);
      return redirect(urls.loginStep('setup', outcome.action));
    }
    deps.viewers.signIn(context, entered.session, outcome.user);
    deps.csrf.rotate(context);
    if (outcome.upstream !== undefined) forgetEntry(context, deps.protocolName, deps.clock.now(), outcome.upstream);
    return redirect(urls.afterAuthentication(outcome.action));
  }
  switch (outcome.reason) {
    case 'unknown':
      throw notFound(deps);
    case 'homeserver-unavailable':
      return showHomeserverLate(deps, context, id);
    case 'completed':
      return redirect(urls.afterAuthentication(outcome.action));
    case 'expired':
      throw expired(deps, outcome.action);
    case 'closed':
      throw new LatchkeyError('registration_closed');
    case 'requester-banned':
      return await showRequesterBanned(deps, context, outcome.action);
    case 'name-taken':
      throw new LatchkeyError('username_taken', { restartPath: urls.login(outcome.action) });
    case 'upstream-used':
      throw new LatchkeyError('upstream_already_used', { restartPath: urls.login(outcome.action) });
    case 'name-lost':
      return redirect(urls.registrationStep(id, 'username'));
    case 'outdated':
      throw new LatchkeyError('registration_outdated', { restartPath: urls.register(outcome.action) });
    case 'email-in-use':
      return showEmailInUse(deps, context, outcome.action);
    case 'token':
    case 'verify-email':
    case 'display-name':
      return redirect(urls.registrationStep(id, outcome.reason));
  }
}

/**
 * Returns what ends the previous session. Otherwise its row would stay live, and so would any copy of the overwritten
 * cookie.
 */
async function formerSessionEnder(deps: RegistrationDeps, context: RequestContext) {
  const { cookies, clientAddress: address, headers, userAgent } = context;
  const unattributed = {
    cookies,
    clientAddress: address,
    headers,
    userAgent,
    setRequester: () => {},
    requireWork: () => {},
  };
  const viewer = await deps.viewers.read(unattributed);
  if (viewer.kind === 'anonymous' || viewer.kind === 'ended') return undefined;
  const which = viewer.kind === 'active' ? viewer.session.id : viewer.sessionId;
  const end = { userId: viewer.user.id, which, reason: 'logout', address, userAgent } as const;
  return (transaction: Transaction, now: number) => signOut({ ...deps, database: transaction }, { ...end, now });
}
