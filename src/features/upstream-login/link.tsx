import type { VNode } from 'preact';
import type { MessageKey } from '#browser/i18n/translations.ts';
import { forgetEntry } from '#browser/upstream-cookie.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { wantsFurtherFactor } from '#domain/authorizations/wanted-factors.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import { linkAccount } from '#domain/upstream/link-account.ts';
import { renewWithUpstream } from '#domain/upstream/renew-with-upstream.ts';
import { signInWithLink } from '#domain/upstream/sign-in-with-link.ts';
import { providerAccountLabel } from '#domain/upstream/upstream-providers.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { askForFactor, finishSignIn, showAccount } from './account.tsx';
import { countLogin } from './count-results.ts';
import { addressAndAgent, alreadyUsed, openStep, type Step, type StepRefusal, stepProblem } from './link-step.ts';
import { isOwnByName, type LinkDeps, linkExisting, showUnlinkedUser, submitRegistration } from './newcomer.tsx';
import { LinkPage, MismatchPage } from './upstream.page.tsx';

/** `GET /upstream/link/{id}`: asks the user to continue. Does not open a session. */
export async function showLink(deps: LinkDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openStep(deps, context, context);
  const { viewer, provider, completed, entry } = step;
  const cookie = deps.viewers.cookie(context);
  if (cookie !== undefined && viewer.kind === 'active' && completed.owner?.id === viewer.user.id) {
    const isFactorNeeded = completed.isReauthentication && (await wantsFurtherFactor(deps, entry.action));
    const step = { action: entry.action, isFactorNeeded };
    const outcome = await renewWithUpstream(deps, { provider, completed, cookie, step, ...addressAndAgent(context) });
    if (!outcome.ok && outcome.reason === 'factor-due') return askForFactor(deps, context, entry, outcome, 'reauth');
    if (!outcome.ok) throw alreadyUsed(deps, entry);
    if (outcome.session !== undefined) {
      deps.viewers.rotate(context, outcome.session);
      deps.csrf.rotate(context);
    }
    forgetEntry(context, deps.config.protocolName, deps.clock.now(), entry);
    return redirect(deps.urls.afterAuthentication(entry.action));
  }
  return await showStep(deps, context, step);
}

/** `POST /upstream/link/{id}`: the last step. */
export async function submitLink(deps: LinkDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  // Only a completed sign-in sets the requester.
  const { cookies, clientAddress, headers, userAgent } = context;
  const step = await openStep(deps, context, {
    cookies,
    clientAddress,
    headers,
    userAgent,
    setRequester: () => {},
    requireWork: () => {},
  });
  if (isExpired) return await showStep(deps, context, step, { reason: 'csrf-expired' });
  const { viewer, completed } = step;
  const isAnonymous = viewer.kind !== 'active';
  const isOwned = completed.owner !== undefined;
  const action = form.get('action');
  if (action === 'link' && viewer.kind === 'active' && !isOwned) return await link(deps, context, step, viewer);
  if (action === 'register' && isAnonymous && !isOwned) return await submitRegistration(deps, context, step, form);
  if (action === 'login' && isAnonymous && isOwned) return await signIn(deps, context, step);
  if (action === 'login' && isAnonymous) return await linkExisting(deps, context, step);
  return await showStep(deps, context, step, { reason: 'state-changed' });
}

async function signIn(deps: LinkDeps, context: RequestContext, step: Step): Promise<HttpResponse> {
  const { provider, completed, entry } = step;
  const outcome = await signInWithLink(deps, {
    provider,
    completed,
    action: entry.action,
    knownBrowsers: deps.viewers.knownBrowsers(context),
    language: deps.pages.language(context).language,
    ...addressAndAgent(context),
  });
  if (!outcome.ok && outcome.reason === 'factor-due') return askForFactor(deps, context, entry, outcome);
  countLogin(provider.id, outcome);
  if (outcome.ok) return finishSignIn(deps, context, entry, outcome);
  switch (outcome.reason) {
    case 'used':
      throw alreadyUsed(deps, entry);
    case 'no-account':
      return await showStep(deps, context, step, { reason: 'state-changed' });
    case 'locked':
    case 'deactivated':
      return await showAccount(deps, context, step, outcome.user);
  }
}

async function link(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  viewer: Extract<Viewer, { readonly kind: 'active' }>,
): Promise<HttpResponse> {
  const { config, urls } = deps;
  const { provider, completed, entry } = step;
  const isOwn = await isOwnByName(deps, step, viewer.user);
  if (!provider.isLinkingEnabled && !isOwn) return await showStep(deps, context, step, { reason: 'state-changed' });
  const { reauthMaxAgeSeconds } = config.account;
  const { language } = deps.pages.language(context);
  const replaces = isOwn && provider.claimsImports.localpart.onConflict === 'replace';
  const linking = { provider, completed, session: viewer.session, language, replaces, ...addressAndAgent(context) };
  const outcome = await linkAccount({ ...deps, reauthMaxAgeSeconds }, linking);
  switch (outcome) {
    case 'reauthentication-needed':
      return redirect(urls.reauth({ kind: 'link_upstream', id: completed.linkId }));
    case 'too-many-links':
      return await showStep(deps, context, step, { reason: 'too-many-links' });
    case 'used':
      throw alreadyUsed(deps, entry);
    case 'linked': {
      const { id, username } = viewer.user;
      context.setRequester({ kind: 'user', id, username });
      forgetEntry(context, config.protocolName, deps.clock.now(), entry);
      return redirect(urls.afterAuthentication(entry.action));
    }
  }
}

/** Shows the page that the sign-in needs now. A dead session counts as none (browser-flows 2.5). */
async function showStep(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  refusal?: StepRefusal,
): Promise<HttpResponse> {
  const { provider, entry, completed, viewer } = step;
  const { owner, linkId } = completed;
  const { urls } = deps;
  if (viewer.kind !== 'active') {
    if (owner === undefined) return await showUnlinkedUser(deps, context, step, refusal);
    return await showAccount(deps, context, step, owner, refusal);
  }
  const destination = await findDestination(deps, entry.action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  const problems = refusal === undefined ? [] : [stepProblem(translations, refusal)];
  const action = { kind: 'link_upstream', id: linkId } as const;
  const shared = {
    translations,
    csrf: deps.csrf.field(context),
    provider: providerAccountLabel(provider, completed.accountName),
    problems,
    viewer: viewer.user,
    logoutPath: urls.logout(),
    action,
    stayHref: urls.afterAuthentication(entry.action),
  };
  const isAllowed = provider.isLinkingEnabled || (owner === undefined && (await isOwnByName(deps, step, viewer.user)));
  const [title, content]: [MessageKey, VNode] =
    owner === undefined
      ? [
          isAllowed ? 'upstream.link.title' : 'upstream.link.off_title',
          <LinkPage {...shared} path={urls.upstreamLink(linkId)} isAllowed={isAllowed} />,
        ]
      : ['upstream.mismatch.title', <MismatchPage {...shared} />];
  return deps.pages.answer({
    title: translations.t(title),
    translations,
    isRejected: problems.length > 0,
    formActions: destinationFormActions(destination),
    content,
  });
}
