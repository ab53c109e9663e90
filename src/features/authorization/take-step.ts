import { findUser } from '#domain/accounts/find-user.ts';
import { recordRegistrationOffer } from '#domain/authorizations/record-progress.ts';
import { describeViolations, refusingSetting } from '#domain/policy/violations.ts';
import { logRefusal, type RefusedRequest } from '#oauth-endpoint/refusal-log.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { showForbidden } from './decision-pages.tsx';
import { cancelRequest, endGrant, fulfillRequest } from './finish-request.tsx';
import type { Step } from './next-step.ts';
import { refuseClient } from './refuse-client.tsx';
import { type AuthorizationDeps, continuation, readerLanguage, type StoredRequest } from './stored-request.ts';

/** Performs a step of a stored request: a redirect to the next page, a page, or the response to the client. */
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
      logStepRefusal(deps, stored, {
        code: 'access_denied',
        description: describeViolations(step.violations),
        setting: refusingSetting(step.violations),
      });
      return await showForbidden(deps, context, stored, step.viewer, step.violations);
    case 'other-account':
    case 'consent':
      return redirect(deps.urls.consent(grant.id));
    case 'cancel':
      return await cancelRequest(deps, context, stored);
    case 'refuse':
      logStepRefusal(deps, stored, { code: step.error, description: step.description, setting: step.setting });
      await endGrant(deps, stored, 'silent-refused');
      return await refuseClient(
        deps,
        context,
        { client: stored.client, target: grant.target, isSilent: true },
        step,
        grant.locale,
      );
    case 'fulfill':
      return await fulfillRequest(deps, context, stored, step.viewer, step.isDecided);
  }
}

function logStepRefusal(
  deps: AuthorizationDeps,
  { client, grant }: StoredRequest,
  refused: Pick<RefusedRequest, 'code' | 'description' | 'setting'>,
): void {
  logRefusal(deps.log, { ...refused, client, redirectUri: grant.target.redirectUri });
}

/** Returns the username that the sign-in page suggests: the client's hint, or else the expected account's name. */
async function proposedLogin(
  { database }: AuthorizationDeps,
  { loginHint, expectedSubjects }: StoredRequest['grant'],
): Promise<string | undefined> {
  const userId = expectedSubjects.length === 1 ? parseId<'user'>(expectedSubjects[0] ?? '') : undefined;
  if (loginHint !== undefined || userId === undefined) return loginHint;
  return (await findUser(database, userId))?.username;
}

/** Redirects to the registration methods, or to the password form if it is the only one (oauth 7.3 steps 5, 8). */
async function redirectToRegistration(
  deps: AuthorizationDeps,
  { id, loginHint }: StoredRequest['grant'],
): Promise<HttpResponse> {
  await recordRegistrationOffer(deps.database, id);
  const hint: [string, string][] = loginHint === undefined ? [] : [['login_hint', loginHint]];
  const action = continuation(id);
  const hasChoice = deps.registrationMethods.providers.length > 0;
  return redirect(hasChoice ? deps.urls.register(action, hint) : deps.urls.registerWithPassword(action, hint));
}
