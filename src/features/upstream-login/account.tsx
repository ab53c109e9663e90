import type { PageDeps } from '#browser/browser.ts';
import { type Purpose, rememberPendingLogin } from '#browser/pending-login.ts';
import { forgetEntry, type UpstreamEntry } from '#browser/upstream-cookie.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import type { SessionCredentials } from '#domain/records/browser-session.ts';
import type { User } from '#domain/records/user.ts';
import type { UpstreamFactorDue } from '#domain/upstream/consume-authorization.ts';
import { providerAccountLabel } from '#domain/upstream/upstream-providers.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type Step, type StepRefusal, stepProblem } from './link-step.ts';
import { ContinuePage } from './upstream.page.tsx';

/** Asks the account's owner to continue, or explains why the account cannot be used. */
export async function showAccount(
  deps: PageDeps,
  context: RequestContext,
  { provider, entry, completed }: Step,
  user: User,
  refusal?: StepRefusal,
): Promise<HttpResponse> {
  const destination = await findDestination(deps, entry.action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  const formActions = destinationFormActions(destination);
  if (user.isDeactivated || user.isLocked) {
    const kind = user.isDeactivated ? 'deactivated' : 'locked';
    return deps.interstitials.answer(context, { kind, user }, { action: entry.action, translations, formActions });
  }
  const problems = refusal === undefined ? [] : [stepProblem(translations, refusal)];
  return deps.pages.answer({
    title: translations.t('upstream.continue.title', { user: user.username }),
    translations,
    isRejected: problems.length > 0,
    formActions,
    content: (
      <ContinuePage
        translations={translations}
        csrf={deps.csrf.field(context)}
        provider={providerAccountLabel(provider, completed.accountName)}
        problems={problems}
        path={deps.urls.upstreamLink(completed.linkId)}
        user={user}
      />
    ),
  });
}

/** The provider identified the user, and a second factor follows. */
export function askForFactor(
  deps: PageDeps,
  context: RequestContext,
  entry: UpstreamEntry,
  { pending, factor }: UpstreamFactorDue,
  purpose: Purpose = 'sign-in',
): HttpResponse {
  rememberPendingLogin(context, pending);
  forgetEntry(context, deps.config.protocolName, deps.clock.now(), entry);
  const { urls } = deps;
  return redirect(purpose === 'reauth' ? urls.reauthStep('totp', entry.action) : urls.loginStep(factor, entry.action));
}

/** Returns the final response of a sign-in. */
export function finishSignIn(
  deps: PageDeps,
  context: RequestContext,
  entry: UpstreamEntry,
  { session, user }: { readonly session: SessionCredentials; readonly user: User },
): HttpResponse {
  deps.viewers.signIn(context, session, user);
  deps.csrf.rotate(context);
  forgetEntry(context, deps.config.protocolName, deps.clock.now(), entry);
  return redirect(deps.urls.afterAuthentication(entry.action));
}
