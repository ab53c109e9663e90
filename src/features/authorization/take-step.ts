import { findUser } from '#domain/accounts/find-user.ts';
import { recordRegistrationOffer } from '#domain/authorizations/record-progress.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { showForbidden } from './decision-pages.tsx';
import { cancelRequest, fulfillRequest } from './finish-request.tsx';
import type { Step } from './next-step.ts';
import { type AuthorizationDeps, continuation, readerLanguage, type StoredRequest } from './stored-request.ts';

/** Carries out a step of a stored request: a redirect to the next page, a page, or the response to the client. */
export async function takeStep(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
  step: Step,
): Promise<HttpResponse> {
  const { grant } = stored;
  switch (step.kind) {
    case 'login':
      return redirect(deps.urls.login(continuation(grant.id), await proposedLogin(deps, grant)));
    case 'register':
      return await redirectToRegistration(deps, grant);
    case 'reauth':
      return redirect(deps.urls.reauth(continuation(grant.id)));
    case 'interstitial':
      return deps.interstitials.answer(context, step.viewer, {
        action: continuation(grant.id),
        translations: readerLanguage(deps.pages, context, grant.locale),
        formActions: [grant.target.redirectUri],
      });
    case 'forbidden':
      logStepRefusal(deps, stored, 'access_denied', 'the user may not grant an admin scope');
      return showForbidden(deps, context, stored, step.viewer, step.scopes);
    case 'other-account':
    case 'consent':
      return redirect(deps.urls.consent(grant.id));
    case 'cancel':
      return await cancelRequest(deps, context, stored, 'user');
    case 'refuse':
      logStepRefusal(deps, stored, step.error, step.description);
      return await cancelRequest(deps, context, stored, 'silent-refused', step);
    case 'fulfill':
      return await fulfillRequest(deps, context, stored, step.viewer, step.isDecided);
  }
}

function logStepRefusal(
  deps: AuthorizationDeps,
  { client, grant }: StoredRequest,
  code: string,
  description: string,
): void {
  logRefusal(deps.log, { code, description, client, redirectUri: grant.target.redirectUri });
}

/** What the sign-in page proposes: the client's own hint, else the name of the account that it expects. */
async function proposedLogin(
  { database }: AuthorizationDeps,
  { loginHint, expectedSubject }: StoredRequest['grant'],
): Promise<string | undefined> {
  const userId = parseId<'user'>(expectedSubject ?? '');
  if (loginHint !== undefined || userId === undefined) return loginHint;
  return (await findUser(database, userId))?.username;
}

/** To the page where people register with a password, the only way there is (oauth 7.3, steps 5 and 8). */
async function redirectToRegistration(
  deps: AuthorizationDeps,
  { id, loginHint }: StoredRequest['grant'],
): Promise<HttpResponse> {
  await recordRegistrationOffer(deps.database, id);
  const hint: [string, string][] = loginHint === undefined ? [] : [['login_hint', loginHint]];
  return redirect(deps.urls.registerWithPassword(continuation(id), hint));
}
