import type { Browser, PageDeps } from '#browser/browser.ts';
import { chatServerName } from '#browser/components/chat-server-name.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import type { NameSuggestions } from '#browser/components/name-suggestions.tsx';
import { emailProblem } from '#browser/email-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { moduleProblem } from '#browser/module-problems.ts';
import { bindRegistration } from '#browser/registrations-cookie.ts';
import { rejectedName } from '#browser/username-problems.ts';
import { formerAccess } from '#domain/account-changes/end-former-access.ts';
import { emailPolicyOf } from '#domain/accounts/email-authentications/email-policy.ts';
import { countStart } from '#domain/accounts/registrations/count-registrations.ts';
import { namePolicyOf } from '#domain/accounts/registrations/registration-policy.ts';
import { suggestFreeNames } from '#domain/accounts/registrations/suggest-names.ts';
import { type Destination, destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { nonceOf } from '#domain/browser-sessions/known-browsers.ts';
import type { Core } from '#domain/core.ts';
import type { User } from '#domain/records/user.ts';
import { type Identity, identifyUnlinkedUser, type UnlinkedUser } from '#domain/upstream/identify-unlinked-user.ts';
import { type InvitedUser, invitedUser } from '#domain/upstream/invited-user.ts';
import { linkExistingAccount } from '#domain/upstream/link-existing-account.ts';
import {
  startUpstreamRegistration,
  type UpstreamRegistrationDeps,
  type UpstreamSubmissionProblem,
} from '#domain/upstream/start-registration.ts';
import { providerAccountLabel } from '#domain/upstream/upstream-providers.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { askForFactor, finishSignIn, showAccount } from './account.tsx';
import { countLogin } from './count-results.ts';
import { addressAndAgent, alreadyUsed, type Step, type StepRefusal, stepProblem } from './link-step.ts';
import { UpstreamRegisterPage } from './register.page.tsx';
import { NoAccountPage } from './upstream.page.tsx';

export type LinkDeps = PageDeps & UpstreamRegistrationDeps;

export function linkDeps(core: Core, browser: Browser): LinkDeps {
  const { branding, rateLimiting } = core.config;
  return {
    ...core,
    ...browser,
    limits: rateLimiting,
    namePolicy: namePolicyOf(core),
    emailPolicy: emailPolicyOf(core),
    sendsMail: core.config.email.transport.kind !== 'blackhole',
    tosUri: branding.tosUri,
  };
}

/** Shows the page for a user whose identity at the provider is not linked to an account here. */
export async function showUnlinkedUser(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  refusal?: StepRefusal,
): Promise<HttpResponse> {
  const { provider } = step;
  const identity = await identify(deps, step);
  if (identity.kind === 'existing') return await showExisting(deps, context, step, identity, refusal);
  const page = await readPage(deps, context, step, identity);
  const problems = refusal === undefined ? [] : [stepProblem(page.translations, refusal)];
  if (!provider.isRegistrationEnabled) return showNoAccount(deps, page, problems);
  // Users must accept terms themselves.
  const skips = provider.claimsImports.skipsConfirmation && deps.tosUri === undefined && refusal === undefined;
  return skips ? await register(deps, context, page, UNTOUCHED) : showForm(deps, context, page, UNTOUCHED, problems);
}

/** `POST /upstream/link/{id}` with `action=register`: starts a registration, which continues in its steps. */
export async function submitRegistration(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  form: FormParameters,
): Promise<HttpResponse> {
  if (!step.provider.isRegistrationEnabled) return await showUnlinkedUser(deps, context, step, STATE_CHANGED);
  const identity = await identify(deps, step);
  if (identity.kind === 'existing') return await showExisting(deps, context, step, identity, STATE_CHANGED);
  return await register(deps, context, await readPage(deps, context, step, identity), {
    username: form.get('username') ?? '',
    takesDisplayName: form.get('import_display_name') === 'on',
    takesEmail: form.get('import_email') === 'on',
    hasAcceptedTerms: form.get('accept_terms') === 'on',
  });
}

/**
 * Shows the existing account with the user's name. They continue as that account, or first sign in to it, which leads
 * back here to link it.
 */
async function showExisting(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  { user, needsSignIn }: Extract<Identity, { readonly kind: 'existing' }>,
  refusal?: StepRefusal,
): Promise<HttpResponse> {
  if (!needsSignIn || user.isLocked) return await showAccount(deps, context, step, user, refusal);
  return redirect(deps.urls.login({ kind: 'link_upstream', id: step.completed.linkId }, user.username));
}

/** Tests whether the operator's rules assign the signed-in user's account to this identity by its name. */
export async function isOwnByName(deps: LinkDeps, { provider, completed }: Step, user: User): Promise<boolean> {
  if (provider.claimsImports.localpart.onConflict === 'fail') return false;
  const identity = await identifyUnlinkedUser(deps, provider, completed);
  return identity.kind === 'existing' && identity.user.id === user.id;
}

/** `action=login` by a user who gets the existing account with their name. */
export async function linkExisting(deps: LinkDeps, context: RequestContext, step: Step): Promise<HttpResponse> {
  const { provider, completed, entry } = step;
  const identity = await identify(deps, step);
  if (identity.kind === 'new') return await showUnlinkedUser(deps, context, step, STATE_CHANGED);
  const { user } = identity;
  if (identity.needsSignIn) return await showExisting(deps, context, step, identity);
  const { language } = deps.pages.language(context);
  const nonce = nonceOf(deps.viewers.knownBrowsers(context), user.id);
  const { action } = entry;
  const taken = { provider, completed, user, language, nonce, action, ...addressAndAgent(context) };
  const outcome = await linkExistingAccount({ ...deps, formerAccess: formerAccess(deps) }, taken);
  if (!outcome.ok && outcome.reason === 'factor-due') return askForFactor(deps, context, entry, outcome);
  countLogin(provider.id, outcome);
  if (outcome.ok) return finishSignIn(deps, context, entry, { session: outcome.session, user });
  switch (outcome.reason) {
    case 'used':
      throw alreadyUsed(deps, entry);
    case 'too-many-links':
      return await showAccount(deps, context, step, user, { reason: 'too-many-links' });
    case 'has-link':
    case 'unusable':
      // The page itself shows what has changed.
      return await showUnlinkedUser(deps, context, step, STATE_CHANGED);
  }
}

const STATE_CHANGED: StepRefusal = { reason: 'state-changed' };

/** Throws the error for rejected claims. */
async function identify(
  deps: LinkDeps,
  { provider, completed, entry }: Step,
): Promise<Exclude<Identity, { readonly kind: 'refused' }>> {
  const identity = await identifyUnlinkedUser(deps, provider, completed);
  if (identity.kind !== 'refused') return identity;
  const { code, description } = identity;
  deps.log.info('auth.refused', description, { code, provider: provider.id });
  throw new LatchkeyError(code, { description, restartPath: deps.urls.login(entry.action) });
}

/** Values that the user entered and selected. */
interface Typed {
  /** Undefined before the first submission. */
  readonly username: string | undefined;
  readonly takesDisplayName: boolean;
  readonly takesEmail: boolean;
  readonly hasAcceptedTerms: boolean;
}

const UNTOUCHED: Typed = { username: undefined, takesDisplayName: true, takesEmail: true, hasAcceptedTerms: false };

async function register(
  deps: LinkDeps,
  context: RequestContext,
  page: PageContext,
  typed: Typed,
): Promise<HttpResponse> {
  const { step, newcomer, invitation, translations } = page;
  const outcome = await startUpstreamRegistration(deps, {
    completed: step.completed,
    newcomer,
    invitation,
    username: typed.username ?? '',
    takesDisplayName: typed.takesDisplayName,
    takesEmail: typed.takesEmail,
    acceptsTerms: typed.hasAcceptedTerms,
    action: step.entry.action,
    locale: translations.language,
    ...addressAndAgent(context),
  });
  countStart(step.provider.id, outcome);
  if (outcome.ok) {
    bindRegistration(context, outcome.id, deps.config.account.registrationTtlSeconds, deps.clock.now());
    return redirect(deps.urls.registrationStep(outcome.id, 'finish'));
  }
  if (outcome.reason !== 'rejected') {
    return showForm(deps, context, page, typed, [stepProblem(translations, outcome)]);
  }
  const names = outcome.problems.flatMap((found) => (found.field === 'username' ? [found.problem] : []));
  const { username, problems } = rejectedName(translations, typed.username ?? '', names, deps.namePolicy);
  const others = outcome.problems.flatMap((found) => problemOf(translations, found));
  const free = names.includes('exists') ? await suggestFreeNames(deps.database, username, deps.namePolicy) : [];
  const suggestions = { names: free, sentAs: 'username' } as const;
  return showForm(deps, context, page, { ...typed, username }, [...problems, ...others], suggestions);
}

function problemOf(translations: Translations, found: UpstreamSubmissionProblem): FormProblem[] {
  switch (found.field) {
    case 'username':
      return [];
    case 'email':
      // This page has no input for the email address.
      return typeof found.problem === 'string'
        ? [{ code: found.problem, message: emailProblem(translations, found.problem).message }]
        : [moduleProblem(translations, found.problem, undefined)];
    case 'policy': {
      const { field } = found.problem;
      const isShown = field === 'username' || field === 'accept_terms';
      return [moduleProblem(translations, found.problem, isShown ? field : undefined)];
    }
    case 'accept_terms':
      return [{ code: found.problem, field: found.field, message: translations.t('register.terms_required') }];
  }
}

interface PageContext extends InvitedUser {
  readonly step: Step;
  readonly destination: Destination | undefined;
  readonly translations: Translations;
}

async function readPage(
  deps: LinkDeps,
  context: RequestContext,
  step: Step,
  identified: UnlinkedUser,
): Promise<PageContext> {
  const destination = await findDestination(deps, step.entry.action);
  const invited = await invitedUser(deps, identified, step.completed, context.clientAddress);
  return { ...invited, step, destination, translations: deps.pages.language(context, destination?.uiLocales) };
}

function showForm(
  deps: LinkDeps,
  context: RequestContext,
  { step, newcomer, destination, translations }: PageContext,
  typed: Typed,
  problems: readonly FormProblem[],
  suggestions?: NameSuggestions,
): HttpResponse {
  const { urls, tosUri } = deps;
  const { provider, completed } = step;
  const { linkId } = completed;
  const { username, displayName, email } = newcomer;
  return deps.pages.answer({
    title: translations.t('register.title'),
    translations,
    isRejected: problems.length > 0,
    formActions: destinationFormActions(destination),
    content: (
      <UpstreamRegisterPage
        translations={translations}
        provider={{ name: provider.name, brand: provider.brandName, accountName: completed.accountName }}
        path={urls.upstreamLink(linkId)}
        csrf={deps.csrf.field(context)}
        problems={problems}
        username={
          username?.isFixed === true ? username : { isFixed: false, value: typed.username ?? username?.value ?? '' }
        }
        suggestions={suggestions}
        email={email && { value: email.value.email.address, isFixed: email.isFixed, isTaken: typed.takesEmail }}
        displayName={displayName && { ...displayName, isTaken: typed.takesDisplayName }}
        serverName={chatServerName(deps.namePolicy.serverName, deps.homeserver.isConnected)}
        terms={tosUri === undefined ? undefined : { uri: tosUri, isAccepted: typed.hasAcceptedTerms }}
        linkPath={provider.isLinkingEnabled ? urls.login({ kind: 'link_upstream', id: linkId }) : undefined}
      />
    ),
  });
}

function showNoAccount(
  { pages, urls }: LinkDeps,
  { step, destination, translations }: PageContext,
  problems: readonly FormProblem[],
): HttpResponse {
  const { provider, completed, entry } = step;
  const action = { kind: 'link_upstream', id: completed.linkId } as const;
  return pages.answer({
    title: translations.t('upstream.no_account.title'),
    translations,
    isRejected: problems.length > 0,
    formActions: destinationFormActions(destination),
    content: (
      <NoAccountPage
        translations={translations}
        provider={providerAccountLabel(provider, completed.accountName)}
        problems={problems}
        linkPath={provider.isLinkingEnabled ? urls.login(action) : undefined}
        loginPath={urls.login(entry.action)}
      />
    ),
  });
}
