/**
 * Registration by the person themselves (browser-flows 5):
 *
 * - `GET`, `POST /register`: the entry
 * - `GET`, `POST /register/password`: username and password; starts a registration
 * - `GET`, `POST /register/steps/{id}/display-name`
 * - `GET`, `POST /register/steps/{id}/username`: when the name was taken in the meantime
 * - `GET /register/steps/{id}/finish`: redirects to the missing step, or creates the account and signs in
 *
 * A registration is a row (`domain/accounts/registrations`) that only the browser which started it can continue: open,
 * completed or expired. The continuation (PostAuthAction) comes with the query and then stays in the row.
 */

import type { Browser } from '#browser/browser.ts';
import { finishRegistration } from '#domain/accounts/registrations/finish-registration.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { showDisplayName, submitDisplayName } from './display-name.tsx';
import { showRegister, submitRegister } from './register.tsx';
import { showPasswordForm, submitPasswordForm } from './register-with-password.tsx';
import { boundRegistration, expired, notFound, type RegistrationDeps, registrationDeps } from './step.ts';
import { showUsername, submitUsername } from './username.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = registrationDeps(core, browser);
  const page = { resource: 'human', errorFormat: 'page' } as const;
  const start = { ...page, path: '/register' };
  const password = { ...page, path: '/register/password' };
  const displayName = { ...page, path: '/register/steps/:id/display-name' };
  const username = { ...page, path: '/register/steps/:id/username' };
  const routes: Route[] = [
    { ...start, method: 'GET', handle: (context) => showRegister(deps, context) },
    { ...start, method: 'POST', handle: (context) => submitRegister(deps, context) },
    { ...password, method: 'GET', handle: (context) => showPasswordForm(deps, context) },
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
  if (deps.isRegistrationOpen)
    routes.push({ ...password, method: 'POST', handle: (context) => submitPasswordForm(deps, context) });
  return routes;
}

/**
 * `GET /register/steps/{id}/finish`: creates the account and signs the person in, or redirects to the missing
 * step. The request is attributed to the new user only, so an existing session is not read.
 */
export async function finish(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { urls } = deps;
  const id = boundRegistration(context, context.params['id']);
  if (id === undefined) throw notFound(deps);
  const { clientAddress: address, userAgent } = context;
  const outcome = await finishRegistration(deps, { id, address, userAgent });
  if (outcome.ok) {
    deps.viewers.signIn(context, outcome.session, outcome.user);
    deps.csrf.rotate(context);
    return redirect(urls.afterAuthentication(outcome.action));
  }
  switch (outcome.reason) {
    case 'unknown':
      throw notFound(deps);
    case 'completed':
      return redirect(urls.afterAuthentication(outcome.action));
    case 'expired':
      throw expired(deps, outcome.action);
    case 'closed':
      throw new LatchkeyError('registration_closed');
    case 'name-lost':
      return redirect(urls.registrationStep(id, 'username'));
    case 'display-name':
      return redirect(urls.registrationStep(id, 'display-name'));
  }
}
