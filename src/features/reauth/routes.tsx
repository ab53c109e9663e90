/**
 * Reauthentication in an active session, for requests that require a recent authentication and for sensitive changes:
 * `GET /reauth` shows the form, `POST /reauth` checks the password or the passkey.
 *
 * The continuation (PostAuthAction) stays in the query of both. A correct password renews the existing session. Without
 * a session, the user signs in.
 */
import type { Browser, PageDeps } from '#browser/browser.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import type { ShownProvider } from '#browser/components/provider-buttons.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Interstitials } from '#browser/interstitials.tsx';
import { rememberPendingLogin } from '#browser/pending-login.ts';
import { REAUTH_FIELD, sealReauthRequest } from '#browser/upstream-reauth.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { wantsFurtherFactor } from '#domain/authorizations/wanted-factors.ts';
import { beginReauthentication, type ReauthOutcome } from '#domain/browser-sessions/reauthenticate.ts';
import type { FactorDue } from '#domain/browser-sessions/renew-session.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { Core } from '#domain/core.ts';
import { renewWithPasskey } from '#domain/passkeys/renew-with-passkey.ts';
import type { SessionCookie } from '#domain/records/browser-session.ts';
import { deviceCodeGrantIsPending, grantIsPending } from '#domain/records/liveness/authorizations.ts';
import { canReauthenticate } from '#domain/upstream/fresh-authentication.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';
import { type CancelForm, ReauthPage } from './reauth.page.tsx';

interface ReauthPageRow {
  readonly has_password: boolean;
  readonly has_passkey: boolean;
  /** Providers that the account is linked to, including disabled ones. */
  readonly provider_ids: readonly string[];
  /** Redirect URI of the pending authorization request, if there is one. */
  readonly redirect_uri: string | null;
  readonly locale: string | null;
  readonly is_device_waiting: boolean;
}

/** What the page depends on in addition to the viewer. Looks up primary keys. */
const readReauthPage = statement<
  ReauthPageRow,
  { readonly userId: string; readonly grantId: string | null; readonly deviceId: string | null; readonly now: Date }
>(
  'reauth.page',
  `select exists (select from user_passwords where user_id = :userId::uuid) as has_password,
          exists (select from user_passkeys where user_id = :userId::uuid) as has_passkey,
          array(select l.provider_id::text from upstream_links l where l.user_id = :userId::uuid) as provider_ids,
          pending.redirect_uri,
          pending.locale,
          device.id is not null as is_device_waiting
     from (select 1) as one
     left join oauth2_authorization_grants pending
       on pending.id = :grantId::uuid and ${grantIsPending('pending', ':now::timestamptz')}
     left join oauth2_device_code_grants device
       on device.id = :deviceId::uuid and ${deviceCodeGrantIsPending('device', ':now::timestamptz')}`,
);

/** Why the form is shown a second time. */
type ReauthProblem =
  | Extract<ReauthOutcome, { readonly reason: 'required' | 'rate-limited' | 'invalid-credentials' | 'overloaded' }>
  | { readonly reason: 'csrf-expired' | 'invalid-method' | 'passkey-failed' };

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser };
  const page = { path: '/reauth', resource: 'human', errorFormat: 'page' } as const;
  return [
    { ...page, method: 'GET', handle: (context) => showReauth(deps, context) },
    { ...page, method: 'POST', handle: (context) => submitReauth(deps, context) },
  ];
}

type ActiveViewer = Extract<Viewer, { readonly kind: 'active' }>;

async function showReauth(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const viewer = await deps.viewers.read(context);
  if (viewer.kind !== 'active') return await respondWithoutSession(deps, context, viewer, action);
  const maxAge = context.query.get('max_age');
  const age = deps.clock.now() - viewer.session.authenticatedAt;
  const isFresh = maxAge !== undefined && /^[0-9]{1,9}$/.test(maxAge) && age < Number(maxAge) * 1000;
  if (isFresh) return redirect(deps.urls.afterAuthentication(action));
  return await showForm(deps, context, viewer, action);
}

async function submitReauth(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const viewer = await deps.viewers.read(context);
  if (viewer.kind !== 'active') return await respondWithoutSession(deps, context, viewer, action);
  if (isExpired) return await showForm(deps, context, viewer, action, { reason: 'csrf-expired' });
  const method = form.get('method') ?? 'password';
  const credential = form.get('credential');
  if (method === 'passkey' && deps.signIn.relyingParty !== undefined && credential !== undefined) {
    return await submitPasskey(deps, context, deps.signIn.relyingParty, viewer, action, credential);
  }
  if (method !== 'password' || !deps.config.passwords.enabled) {
    return await showForm(deps, context, viewer, action, { reason: 'invalid-method' });
  }

  const outcome = await attempt(deps, context, viewer, form.get('password') ?? '', action);
  if (outcome.ok) {
    if (outcome.session !== undefined) deps.viewers.rotate(context, outcome.session);
    deps.csrf.rotate(context);
    return redirect(deps.urls.afterAuthentication(action));
  }
  switch (outcome.reason) {
    case 'factor-due':
      rememberPendingLogin(context, outcome.pending);
      return redirect(deps.urls.reauthStep('totp', action));
    case 'ended':
    case 'locked':
    case 'deactivated':
      return await showInterstitial(deps, context, { kind: outcome.reason, user: outcome.user }, action);
    default:
      return await showForm(deps, context, viewer, action, outcome);
  }
}

async function submitPasskey(
  deps: PageDeps,
  context: RequestContext,
  party: RelyingParty,
  viewer: ActiveViewer,
  action: PostAuthAction | undefined,
  credential: string,
): Promise<HttpResponse> {
  const { clientAddress: address, userAgent } = context;
  const used = { cookie: cookieOf(deps, context), user: viewer.user.id, credential, address, userAgent };
  const outcome = await renewWithPasskey({ ...deps, party }, used);
  if (!outcome.ok) return await showForm(deps, context, viewer, action, { reason: 'passkey-failed' });
  if (outcome.session !== undefined) deps.viewers.rotate(context, outcome.session);
  deps.csrf.rotate(context);
  return redirect(deps.urls.afterAuthentication(action));
}

async function attempt(
  deps: PageDeps,
  context: RequestContext,
  viewer: ActiveViewer,
  password: string,
  action: PostAuthAction | undefined,
): Promise<ReauthOutcome | FactorDue> {
  const typed = {
    cookie: cookieOf(deps, context),
    user: viewer.user,
    password,
    address: context.clientAddress,
    userAgent: context.userAgent,
    knownBrowsers: deps.viewers.knownBrowsers(context),
    signal: context.signal,
  };
  return await beginReauthentication(deps, typed, { action, isFactorNeeded: await wantsFurtherFactor(deps, action) });
}

function cookieOf(deps: PageDeps, context: RequestContext): SessionCookie {
  const cookie = deps.viewers.cookie(context);
  if (cookie === undefined) throw new Error('active viewer has no session cookie');
  return cookie;
}

async function respondWithoutSession(
  deps: PageDeps,
  context: RequestContext,
  viewer: Exclude<Viewer, { readonly kind: 'active' }>,
  action: PostAuthAction | undefined,
): Promise<HttpResponse> {
  if (viewer.kind === 'anonymous') return redirect(deps.urls.login(action));
  return await showInterstitial(deps, context, viewer, action);
}

/** Shows the page in the language of the pending request, like the page that it replaces. */
async function showInterstitial(
  deps: PageDeps,
  context: RequestContext,
  viewer: Parameters<Interstitials['answer']>[1],
  action: PostAuthAction | undefined,
): Promise<HttpResponse> {
  const destination = await findDestination(deps, action);
  return deps.interstitials.answer(context, viewer, {
    action,
    translations: deps.pages.language(context, destination?.uiLocales),
    formActions: destinationFormActions(destination),
  });
}

async function showForm(
  deps: PageDeps,
  context: RequestContext,
  viewer: ActiveViewer,
  action: PostAuthAction | undefined,
  problem?: ReauthProblem,
): Promise<HttpResponse> {
  const { urls, csrf, pages } = deps;
  const row = await readPage(deps, viewer, action);
  const translations = pages.language(context, row?.locale ?? undefined);
  const redirectUri = row?.redirect_uri ?? undefined;
  const isOverloaded = problem?.reason === 'overloaded';
  return pages.answer({
    status: isOverloaded ? 503 : 200,
    headers: isOverloaded ? { 'retry-after': String(problem.retryAfterSeconds) } : {},
    title: translations.t('reauth.title'),
    translations,
    isRejected: problem !== undefined,
    hasPasskey: deps.signIn.relyingParty !== undefined && row?.has_passkey === true,
    // A correct password eventually redirects to the client. Browsers check that against `form-action`.
    formActions: redirectUri === undefined ? [] : [redirectUri],
    content: (
      <ReauthPage
        translations={translations}
        csrf={csrf.field(context)}
        username={viewer.user.username}
        displayName={viewer.user.displayName}
        action={action}
        logoutPath={urls.logout()}
        passwordPath={deps.config.passwords.enabled && row?.has_password === true ? urls.reauth(action) : undefined}
        passkey={
          deps.signIn.relyingParty !== undefined && row?.has_passkey === true
            ? { path: urls.reauth(action), optionsPath: urls.passkeyOptions('reauth'), csrf: csrf.field(context) }
            : undefined
        }
        providers={linkedProviders(deps, viewer, action, row)}
        cancel={cancelForm(deps, action, row)}
        problems={problem === undefined ? [] : [reauthProblem(translations, problem)]}
      />
    ),
  });
}

/** The providers through which the user can reauthenticate. */
function linkedProviders(
  { upstream, urls, keyRing, clock }: PageDeps,
  { session }: ActiveViewer,
  action: PostAuthAction | undefined,
  row: ReauthPageRow | undefined,
): ShownProvider[] {
  const linked = new Set(row?.provider_ids.map((id) => fromUuid<'upstream-provider'>(id)));
  const sealed = sealReauthRequest(keyRing, session.id, clock.now());
  return upstream.providers.enabled
    .filter((provider) => linked.has(provider.id) && canReauthenticate(provider))
    .map((provider) => ({
      name: provider.name,
      brand: provider.brandName,
      href: urls.upstreamAuthorize(provider.id, action, [[REAUTH_FIELD, sealed]]),
    }));
}

/** Canceling has the same effect as on the interrupted request's own page. */
function cancelForm(
  { urls }: PageDeps,
  action: PostAuthAction | undefined,
  row: ReauthPageRow | undefined,
): CancelForm | undefined {
  if (action?.kind === 'continue_authorization_grant' && row?.redirect_uri != null) {
    return { path: urls.authorize(), fields: [['grant_id', action.id]], value: 'cancel' };
  }
  if (action?.kind === 'continue_device_code_grant' && row?.is_device_waiting === true) {
    return { path: urls.device(action.id), fields: [], value: 'reject' };
  }
  return undefined;
}

async function readPage(
  deps: PageDeps,
  viewer: ActiveViewer,
  action: PostAuthAction | undefined,
): Promise<ReauthPageRow | undefined> {
  return await deps.database.first(readReauthPage, {
    userId: toUuid(viewer.user.id),
    grantId: action?.kind === 'continue_authorization_grant' ? toUuid(action.id) : null,
    deviceId: action?.kind === 'continue_device_code_grant' ? toUuid(action.id) : null,
    now: new Date(deps.clock.now()),
  });
}

/** Returns the problem as text, with the codes of browser-flows 3.4. */
function reauthProblem(translations: Translations, problem: ReauthProblem): FormProblem {
  switch (problem.reason) {
    case 'required':
      return { code: 'required', field: 'password', message: translations.t('login.password_required') };
    case 'invalid-credentials':
      return { code: 'invalid_credentials', field: 'password', message: translations.t('reauth.invalid_credentials') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: translations.t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'passkey-failed':
      return { code: 'passkey_failed', message: translations.t('passkey.failed') };
    case 'csrf-expired':
      return { code: 'csrf_expired', message: translations.t('form.csrf_expired') };
    case 'invalid-method':
      return { code: 'invalid_action', message: translations.t('form.invalid_action') };
    case 'overloaded':
      return { code: 'overloaded', message: translations.t('login.overloaded') };
  }
}
