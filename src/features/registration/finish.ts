import { finishRegistration } from '#domain/accounts/registrations/finish-registration.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { RegistrationDeps } from './deps.ts';
import { boundRegistration, expired, notFound } from './step.ts';

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
