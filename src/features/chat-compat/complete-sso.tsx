import type { PageDeps } from '#browser/browser.ts';
import type { ShownClient } from '#browser/components/client.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { decidingAccount } from '#browser/deciding-account.ts';
import { type Viewer, type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import { fulfillSsoLogin } from '#domain/compat-sessions/sso-logins/fulfill-sso-login.ts';
import {
  type SsoLogin,
  type SsoLoginRow,
  ssoLoginColumns,
  toSsoLogin,
} from '#domain/compat-sessions/sso-logins/sso-login.ts';
import { describeViolations, findViolations, refusingSetting, type Violation } from '#domain/policy/violations.ts';
import {
  type OpenSessionsRow,
  openSessionsColumns,
  openSessionsJoin,
  toOpenSessions,
} from '#domain/records/session-limit.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, redirect, responseFor } from '#platform/http/response.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type SsoTarget, ssoTarget, withLoginToken } from '#protocol/chat/sso-redirect.ts';
import { uriForLog } from '#protocol/oauth/uris-in-logs.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { CompleteSsoPage, SsoForbiddenPage } from './complete-sso.page.tsx';
import { judgeCompatLogin } from './judge-login.ts';
import { readSsoAction } from './sso-action.ts';

type ActiveViewer = Extract<Viewer, { readonly kind: 'active' }>;

/** A client that waits for the signed-in user. */
interface WaitingClient {
  readonly ok: true;
  readonly login: SsoLogin;
  readonly viewer: ActiveViewer;
  /** Why this user may not sign the client in. */
  readonly violations: readonly Violation[];
}

const FORM_LIFETIME_MS = 10 * 60_000;
const RENDERED_LABEL = 'compat-sso-form';

/** `GET /complete-compat-sso/{grant_id}`: asks whether the client may have a session (chat-compat 9.1). */
export async function showSso(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openSso(deps, context);
  if (!opened.ok) return opened.response;
  return await showDecision(deps, context, opened);
}

/**
 * `POST /complete-compat-sso/{grant_id}`: the user agreed, and the browser takes a login token to the client
 * (chat-compat 9.2).
 */
export async function submitSso(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const opened = await openSso(deps, context);
  if (!opened.ok) return opened.response;
  if (opened.violations.length > 0) return await showDecision(deps, context, opened);
  const { login, viewer } = opened;
  const now = deps.clock.now();
  if (isExpired || !isFresh(deps, form, login, now)) return await showDecision(deps, context, opened, true);
  const token = await fulfillSsoLogin(deps.database, {
    id: login.id,
    userId: viewer.user.id,
    browserSessionId: viewer.session.id,
    address: context.clientAddress,
    userAgent: context.userAgent,
    now,
  });
  // The login, session or account changed after it was read. The page determines which.
  if (token === undefined) return await showSso(deps, context);
  return redirect(withLoginToken(login.redirectUri, token), { 'referrer-policy': 'no-referrer' });
}

/**
 * Reads the SSO login with one statement, and determines whether the signed-in user may complete it. Sets the viewer as
 * the request's requester.
 * @throws LatchkeyError `sso_login_not_found`, `sso_login_used`, `sso_login_expired`
 */
async function openSso(deps: PageDeps, context: RequestContext): Promise<WaitingClient | Responded> {
  const { database, clock, viewers } = deps;
  const id = parseId<'compat-sso-login'>(context.params['grant_id'] ?? '');
  const cookie = viewers.cookie(context);
  const now = clock.now();
  const row = await database.first(readSsoLogin, {
    loginId: id === undefined ? null : toUuid(id),
    browserSessionId: cookie === undefined ? null : toUuid(cookie.id),
    countedSince: deps.sessionLimit.countedSince(now),
    now: new Date(now),
  });
  const viewer = await viewers.accept(context, row);
  if (row === undefined || row.login_id === null) throw new LatchkeyError('sso_login_not_found');
  const login = toSsoLogin(row);
  if (login.isFulfilled) throw new LatchkeyError('sso_login_used');
  if (login.expiresAt <= now) throw new LatchkeyError('sso_login_expired');
  if (viewer.kind === 'anonymous') return responseFor(redirect(signInPath(deps, context, login)));
  if (viewer.kind !== 'active') {
    const continued = { action: continuation(login), formActions: addressesAfterSignOut(deps, login) };
    return responseFor(deps.interstitials.answer(context, viewer, continued));
  }
  const { user } = viewer;
  const refusals = await judgeCompatLogin(deps, { user, login_type: 'm.login.sso' }, context);
  const violations = findViolations(
    // Without a client there are no groups that it is limited to.
    { user, isAdmitted: true, scope: [], refusals, openSessions: toOpenSessions(row) },
    deps,
  );
  return { ok: true, login, viewer, violations };
}

/** Reads the SSO login and the signed-in user. Returns a row even without the login. Both lookups use primary keys. */
const readSsoLogin = statement<
  ViewerRow & OpenSessionsRow & (SsoLoginRow | { readonly login_id: null }),
  {
    readonly loginId: string | null;
    readonly browserSessionId: string | null;
    readonly countedSince: Date | null;
    readonly now: Date;
  }
>(
  'complete-compat-sso.page',
  `select ${ssoLoginColumns('login')}, ${viewerColumns}, ${openSessionsColumns}
     from (select 1) as one
     left join compat_sso_logins login on login.id = :loginId::uuid
     ${viewerJoin(':browserSessionId::uuid')}
     ${openSessionsJoin('viewer_user.id', ':countedSince::timestamptz', ':now::timestamptz')}`,
);

function continuation({ id }: SsoLogin): PostAuthAction {
  return { kind: 'continue_compat_sso_login', id };
}

function signInPath(deps: PageDeps, context: RequestContext, login: SsoLogin): string {
  const { urls } = deps;
  const action = continuation(login);
  const isNew = readSsoAction(context.query, deps.config.protocolName) === 'register';
  if (isNew && deps.registrationMethods.isAnyOpen) return urls.register(action);
  const provider = deps.upstream.providers.find(login.providerId);
  return provider === undefined ? urls.login(action) : urls.upstreamAuthorize(provider.id, action);
}

/** "Use another account" returns to this page, which redirects to the provider that the client suggested. */
function addressesAfterSignOut({ upstream }: PageDeps, { providerId }: SsoLogin): readonly string[] {
  const provider = upstream.providers.find(providerId);
  const address = provider?.authorizationEndpoint ?? provider?.issuer;
  return address === undefined ? [] : [address];
}

async function showDecision(
  deps: PageDeps,
  context: RequestContext,
  { login, viewer, violations }: WaitingClient,
  isStale = false,
): Promise<HttpResponse> {
  const account = await decidingAccount(deps, viewer.user, continuation(login));
  const translations = deps.pages.language(context);
  const target = ssoTarget(login.redirectUri);
  const csrf = deps.csrf.field(context);
  const formActions = [login.redirectUri, ...addressesAfterSignOut(deps, login)];
  if (violations.length > 0) {
    deps.log.info('auth.refused', 'sign-in of a chat client refused', {
      code: 'access_denied',
      description: describeViolations(violations),
      setting: refusingSetting(violations),
      redirect_uri: uriForLog(login.redirectUri),
      user: viewer.user.id,
    });
    return deps.pages.answer({
      status: 403,
      title: translations.t('problem.refused.title'),
      translations,
      formActions: addressesAfterSignOut(deps, login),
      content: (
        <SsoForbiddenPage
          {...{ translations, violations, account, csrf }}
          client={unknownClient(target)}
          help={deps.config.branding}
          retryPath={deps.urls.completeSso(login.id)}
          sessionsPath={deps.urls.account('sessions')}
        />
      ),
    });
  }
  const rendered = deps.keyRing.seal(RENDERED_LABEL, String(deps.clock.now()), login.id).toString('base64url');
  return deps.pages.answer({
    title: translations.t('sso.title', { target: target.name }),
    translations,
    client: { name: target.name },
    isRejected: isStale,
    formActions,
    content: (
      <CompleteSsoPage
        {...{ translations, target, account }}
        form={{ path: deps.urls.completeSso(login.id), csrf, fields: [['rendered', rendered]] }}
        problems={isStale ? [staleProblem(translations.t('form.csrf_expired'))] : []}
      />
    ),
  });
}

/** A page left open must not be able to sign a client in much later (security S-72). */
function isFresh({ keyRing }: PageDeps, form: FormParameters, login: SsoLogin, now: number): boolean {
  const sealed = Buffer.from(form.get('rendered') ?? '', 'base64url');
  const opened = keyRing.open(RENDERED_LABEL, sealed, login.id);
  return opened !== undefined && now - Number(opened.toString()) <= FORM_LIFETIME_MS;
}

function staleProblem(message: string): FormProblem {
  return { code: 'csrf_expired', message };
}

/** Nothing is known about the client except where the token goes. */
function unknownClient(target: SsoTarget): ShownClient {
  return { name: target.name, host: undefined, isVerified: false };
}
