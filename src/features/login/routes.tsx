/**
 * Sign-in with a password: `GET /login` shows the form, `POST /login` opens a browser session. Sign-in with a passkey:
 * `POST /login/passkey/options` and `POST /login/passkey`, and `GET /login/passkey` after a password (`passkey.tsx`).
 * After a password, `/login/add-passkey` may offer to add a passkey (`passkey-offer.tsx`).
 *
 * The continuation (PostAuthAction) stays in the query of both and decides where an accepted form redirects to. This
 * feature only shows the name of the continuation's client. The domain handles passwords, their limits and the
 * session's row.
 */

import type { Browser, PageDeps } from '#browser/browser.ts';
import { readCaptchaResponse, type ShownCaptcha, shownCaptcha } from '#browser/captcha.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { destinationParty } from '#browser/components/parties.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Interstitials } from '#browser/interstitials.tsx';
import { afterPassword, isPasskeyOfferOn } from '#browser/passkey-offer.ts';
import { readUnnamed, rememberPendingLogin } from '#browser/pending-login.ts';
import { query } from '#browser/urls.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import { parseLoginName, usernameOfHint } from '#domain/accounts/login-name.ts';
import {
  type Destination,
  destinationFormActions,
  destinationName,
  findDestination,
} from '#domain/authorizations/destination.ts';
import { type SignInDeps, signInWithPassword } from '#domain/browser-sessions/sign-in.ts';
import type { Core } from '#domain/core.ts';
import { findLinkProvider } from '#domain/upstream/find-link-provider.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { type PostAuthAction, parsePostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import { LoginPage, type LoginProblem, loginProblems, MAX_USERNAME_CHARACTERS } from './login.page.tsx';
import { type PasskeyPageDeps, passkeyOptions, type ShowLogin, showPasskey, submitPasskey } from './passkey.tsx';
import { newPasskeyOptions, showPasskeyOffer, submitPasskeyOffer } from './passkey-offer.tsx';
import { SignedInPage } from './signed-in.page.tsx';

type LoginDeps = PageDeps & Pick<SignInDeps, 'loginNames'>;

export function mount(core: Core, browser: Browser): Route[] {
  const { account, homeserver } = core.config;
  const loginNames = { serverName: homeserver.homeserver, isEmailAllowed: account.loginWithEmailAllowed };
  const deps = { ...core, ...browser, loginNames };
  const page = { path: '/login', resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
  const routes: Route[] = [{ ...page, method: 'GET', handle: (context) => showLogin(deps, context) }];
  if (deps.config.passwords.enabled) {
    routes.push({ ...page, method: 'POST', handle: (context) => submitLogin(deps, context) });
  }
  const { relyingParty: party } = core.signIn;
  return party === undefined ? routes : [...routes, ...passkeyRoutes({ ...deps, party })];
}

function passkeyRoutes(deps: LoginDeps & PasskeyPageDeps): Route[] {
  const page = { path: '/login/passkey', resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
  const showLoginAgain: ShowLogin = async (context, action, problem) =>
    showForm(deps, context, { ...(await readContinuation(deps, context, action)), username: undefined, problem });
  return [
    { ...page, method: 'GET', handle: (context) => showPasskey(deps, context) },
    { ...page, method: 'POST', handle: (context) => submitPasskey(deps, context, showLoginAgain) },
    {
      ...page,
      path: '/login/passkey/options',
      method: 'POST',
      errorFormat: 'plain-json',
      handle: (context) => passkeyOptions(deps, context),
    },
    ...(deps.config.account.passkeyOffer ? offerRoutes(deps) : []),
  ];
}

function offerRoutes(deps: PasskeyPageDeps): Route[] {
  const page = { path: '/login/add-passkey', resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
  return [
    { ...page, method: 'GET', handle: (context) => showPasskeyOffer(deps, context) },
    { ...page, method: 'POST', handle: (context) => submitPasskeyOffer(deps, context) },
    {
      ...page,
      path: '/login/add-passkey/options',
      method: 'POST',
      errorFormat: 'plain-json',
      handle: (context) => newPasskeyOptions(deps, context),
    },
  ];
}

async function showLogin(deps: LoginDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'active') return redirect(deps.urls.afterAuthentication(action));
  if (viewer.kind !== 'anonymous') {
    return showInterstitial(deps, context, viewer, action, await findDestination(deps, action));
  }
  // A user who links an account has just come from the provider.
  const only = action?.kind === 'link_upstream' ? undefined : onlyProvider(deps, context);
  if (only !== undefined) return redirect(deps.urls.upstreamAuthorize(only.id, action));
  const username = usernameOfHint(context.query.get('login_hint'), deps.loginNames);
  return showForm(deps, context, { ...(await readContinuation(deps, context, action)), username });
}

/** Returns the upstream provider if it is the only sign-in method, unless the user has just come back from it. */
function onlyProvider(deps: LoginDeps, context: RequestContext) {
  if (deps.config.passwords.enabled || deps.notices.read(context) !== undefined) return undefined;
  return deps.viewers.isJustSignedOut(context) ? undefined : deps.upstream.providers.only;
}

async function submitLogin(deps: LoginDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const username = form.get('username') ?? '';
  let isExpired: boolean;
  try {
    isExpired = deps.csrf.check(context, form) === 'expired';
  } catch (error) {
    const response = isMismatch(error) ? await respondSignedIn(deps, context, action, username) : undefined;
    if (response === undefined) throw error;
    return response;
  }

  const reject = async (problem: LoginProblem): Promise<HttpResponse> => {
    return showForm(deps, context, { ...(await readContinuation(deps, context, action)), username, problem });
  };
  if (isExpired) return await reject({ reason: 'csrf-expired' });
  if (username.trim().length > MAX_USERNAME_CHARACTERS) return await reject({ reason: 'too-long' });

  const outcome = await signInWithPassword(deps, {
    username,
    password: form.get('password') ?? '',
    captcha: readCaptchaResponse(form),
    action,
    address: context.clientAddress,
    userAgent: context.userAgent,
    knownBrowsers: deps.viewers.knownBrowsers(context),
    language: deps.pages.language(context).language,
    signal: context.signal,
  });
  if (outcome.ok) {
    deps.viewers.signIn(context, outcome.session, outcome.user);
    deps.csrf.rotate(context);
    return redirect(await afterPassword(deps, form, outcome.user, action));
  }
  switch (outcome.reason) {
    case 'factor-due':
      rememberPendingLogin(context, outcome.pending);
      return redirect(deps.urls.loginStep(outcome.factor, action));
    case 'locked':
    case 'deactivated': {
      const viewer = { kind: outcome.reason, user: outcome.user };
      return showInterstitial(deps, context, viewer, action, await findDestination(deps, action));
    }
    default:
      return await reject(outcome);
  }
}

function isMismatch(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === 'csrf_mismatch';
}

/**
 * Handles a form that was opened before the user signed in in another tab. The password is not checked, and no sign-in
 * takes place. If the form names the signed-in user, the user continues. Otherwise the user decides.
 */
async function respondSignedIn(
  deps: LoginDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
  username: string,
): Promise<HttpResponse | undefined> {
  // This request does not sign in a user, so it has no requester.
  const viewer = await readUnnamed(deps.viewers, context);
  if (viewer.kind !== 'active') return undefined;
  if (parseLoginName(username.trim(), deps.loginNames).key === viewer.user.username.toLowerCase()) {
    return redirect(deps.urls.afterAuthentication(action));
  }
  const destination = await findDestination(deps, action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  return deps.pages.answer({
    title: translations.t('login.signed_in.title'),
    translations,
    formActions: destinationFormActions(destination),
    content: (
      <SignedInPage
        translations={translations}
        csrf={deps.csrf.field(context)}
        user={viewer.user}
        action={action}
        logoutPath={deps.urls.logout()}
        stayHref={deps.urls.afterAuthentication(action)}
      />
    ),
  });
}

interface Continuation {
  readonly action: PostAuthAction | undefined;
  readonly destination: Destination | undefined;
  /** Provider of the account that is being linked. */
  readonly linkProvider: UpstreamProvider | undefined;
  readonly translations: Translations;
  readonly captcha: ShownCaptcha | undefined;
}

interface FormState extends Continuation {
  readonly username: string | undefined;
  readonly problem?: LoginProblem;
}

async function readContinuation(
  deps: LoginDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<Continuation> {
  const destination = await findDestination(deps, action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  return {
    action,
    destination,
    linkProvider: await findLinkProvider(deps, action),
    translations,
    captcha: deps.config.passwords.enabled
      ? await shownCaptcha(deps, 'login', context.clientAddress, translations)
      : undefined,
  };
}

function showForm(deps: LoginDeps, context: RequestContext, state: FormState): HttpResponse {
  const { action, captcha, destination, linkProvider, problem, translations } = state;
  const acceptsEmail = deps.loginNames.isEmailAllowed;
  const problems: readonly FormProblem[] =
    problem === undefined ? [] : loginProblems(translations, problem, { acceptsEmail });
  const form = {
    path: deps.urls.login(action),
    csrf: deps.csrf.field(context),
    username: state.username,
    problems,
    acceptsEmail,
    asksForDevice: isPasskeyOfferOn(deps),
    captcha,
  };
  const passkey = {
    path: deps.urls.loginStep('passkey', action),
    optionsPath: deps.urls.passkeyOptions('login'),
    csrf: deps.config.passwords.enabled ? undefined : form.csrf,
  };
  const isOverloaded = problem?.reason === 'overloaded';
  return deps.pages.answer({
    status: isOverloaded ? 503 : 200,
    headers: isOverloaded ? { 'retry-after': String(problem.retryAfterSeconds) } : {},
    title: translations.t('login.title'),
    translations,
    isRejected: problems.length > 0,
    hasPasskey: deps.signIn.relyingParty !== undefined,
    client: destinationParty(deps, destination, translations.language),
    captcha: captcha?.widget,
    formActions: destinationFormActions(destination),
    // If the client chose the language, a choice on this page would have no effect.
    languageLinks: destination?.uiLocales === undefined ? languageLinks(deps, action) : [],
    content: (
      <LoginPage
        translations={translations}
        serviceName={deps.config.branding.serviceName}
        clientName={destination === undefined ? undefined : destinationName(destination, translations.language)}
        message={deps.config.branding.loginMessage}
        notice={problem === undefined ? (deps.notices.read(context) ?? deps.notices.readLeft(context)) : undefined}
        form={deps.config.passwords.enabled ? form : undefined}
        passkey={deps.signIn.relyingParty === undefined ? undefined : passkey}
        recoverPath={isRecoveryOpen(deps.config) ? deps.urls.recover() : undefined}
        providers={deps.upstream.providers.enabled.map((provider) => ({
          name: provider.name,
          brand: provider.brandName,
          href: deps.urls.upstreamAuthorize(provider.id, action),
        }))}
        linkedProvider={linkProvider?.name}
        registerPath={registerPath(deps, action)}
      />
    ),
  });
}

function showInterstitial(
  deps: LoginDeps,
  context: RequestContext,
  viewer: Parameters<Interstitials['answer']>[1],
  action: PostAuthAction | undefined,
  destination: Destination | undefined,
): HttpResponse {
  const translations = deps.pages.language(context, destination?.uiLocales);
  return deps.interstitials.answer(context, viewer, {
    action,
    translations,
    formActions: destinationFormActions(destination),
  });
}

/** Returns undefined if registration is closed, or while an existing account is being linked. */
function registerPath(deps: LoginDeps, action: PostAuthAction | undefined): string | undefined {
  return deps.registrationMethods.isAnyOpen && action?.kind !== 'link_upstream'
    ? deps.urls.register(action)
    : undefined;
}

function languageLinks(deps: LoginDeps, action: PostAuthAction | undefined) {
  const fields = postAuthActionFields(action);
  return deps.pages.languageLinks((language) => deps.urls.path('login') + query([...fields, ['ui_locales', language]]));
}
