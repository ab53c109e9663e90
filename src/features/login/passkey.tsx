/**
 * Sign-in with a passkey (browser-flows 4.4), alone or after a password. `POST /login/passkey/options` returns the
 * parameters of the browser's passkey request. `POST /login/passkey` takes the browser's response. `GET /login/passkey`
 * asks for a passkey after the password.
 */
import type { PageDeps } from '#browser/browser.ts';
import {
  completionRequest,
  ensureLoginId,
  findWaiting,
  finishLogin,
  loginIdOf,
  openPendingLogin,
  readUnnamed,
  refuseLogin,
  startAgain,
} from '#browser/pending-login.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { tryPasskey } from '#domain/login-completion/try-passkey.ts';
import { type PasskeyRequest, requestPasskey } from '#domain/passkeys/request-options.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';
import { PasskeyPage, type PasskeyProblem, passkeyProblem } from './passkey.page.tsx';

export interface PasskeyPageDeps extends PageDeps {
  readonly party: RelyingParty;
}

export type ShowLogin = (
  context: RequestContext,
  action: PostAuthAction | undefined,
  problem: PasskeyProblem,
) => Promise<HttpResponse>;

export async function passkeyOptions(deps: PasskeyPageDeps, context: RequestContext): Promise<HttpResponse> {
  const { clock, config, csrf, database, party } = deps;
  csrf.checkHeader(context);
  const limiter = config.rateLimiting.passkey.perIp;
  const taken = await chargeAddress(deps, { name: 'passkey', limiter, address: context.clientAddress });
  if (!taken.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
  const now = clock.now();
  const request = { ...(await whatFor(deps, context, now)), now };
  const publicKey = await requestPasskey(database, party, request);
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify({ publicKey }),
  };
}

/** Returns the purpose that the page names, if possible. Otherwise it is what is pending in this browser. */
async function whatFor(
  deps: PasskeyPageDeps,
  context: RequestContext,
  now: number,
): Promise<Omit<PasskeyRequest, 'now'>> {
  const wanted = context.query.get('purpose');
  const pending = wanted === 'login' || wanted === 'reauth' ? undefined : await findSignIn(deps, context);
  if (pending !== undefined) {
    return { purpose: 'second_factor', holder: { kind: 'login', id: pending.id }, user: pending.user.id };
  }
  const viewer = wanted === 'login' ? undefined : await readUnnamed(deps.viewers, context);
  if (viewer?.kind === 'active') {
    return { purpose: 'reauth', holder: { kind: 'session', id: viewer.session.id }, user: viewer.user.id };
  }
  return { purpose: 'login', holder: { kind: 'login', id: ensureLoginId(context, now) }, user: undefined };
}

async function findSignIn(deps: PageDeps, context: RequestContext): Promise<PendingLogin | undefined> {
  const pending = await findWaiting(deps, context);
  return pending?.sessionId === undefined ? pending : undefined;
}

export async function showPasskey(deps: PasskeyPageDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openPendingLogin(deps, context, 'sign-in');
  if (!opened.ok) return opened.answer;
  const { pending } = opened;
  if (pending.hasPasskey) return await showPage(deps, context, pending);
  if (pending.hasTotp) return redirect(deps.urls.loginStep('totp', pending.action));
  return startAgain(deps, context, 'sign-in', pending.action);
}

/** @param showLogin shows the sign-in page if the first factor is missing */
export async function submitPasskey(
  deps: PasskeyPageDeps,
  context: RequestContext,
  showLogin: ShowLogin,
): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const loginId = loginIdOf(context);
  const pending = await findSignIn(deps, context);
  const reject = async (reason: PasskeyProblem['reason'], isFirst = pending === undefined): Promise<HttpResponse> =>
    pending !== undefined && !isFirst
      ? await showPage(deps, context, pending, { reason })
      : await showLogin(context, action, { reason });
  if (isExpired) return await reject('csrf-expired');
  if (loginId === undefined) return await reject('passkey-failed');

  const request = completionRequest(deps, context);
  const outcome = await tryPasskey(deps, { credential: form.get('credential') ?? '', loginId, pending, request });
  const isSecond = outcome.purpose === 'second_factor' && pending !== undefined;
  if (outcome.ok) {
    return finishLogin(deps, context, { ...outcome, purpose: 'sign-in' }, isSecond ? pending.action : action);
  }
  if (outcome.reason === 'failed')
    return await reject('passkey-failed', outcome.purpose === 'login' || pending === undefined);
  if (isSecond) return await refuseLogin(deps, context, pending, outcome);
  if (outcome.reason === 'not-open') return await reject('passkey-failed', true);
  const destination = await findDestination(deps, action);
  return deps.interstitials.answer(
    context,
    { kind: outcome.reason, user: outcome.user },
    {
      action,
      translations: deps.pages.language(context, destination?.uiLocales),
      formActions: destinationFormActions(destination),
    },
  );
}

async function showPage(
  deps: PasskeyPageDeps,
  context: RequestContext,
  { action, hasTotp }: PendingLogin,
  problem?: PasskeyProblem,
): Promise<HttpResponse> {
  const { urls, csrf, pages } = deps;
  const destination = await findDestination(deps, action);
  const translations = pages.language(context, destination?.uiLocales);
  return pages.answer({
    title: translations.t('second_factor.title'),
    translations,
    isRejected: problem !== undefined,
    hasPasskey: true,
    formActions: destinationFormActions(destination),
    content: (
      <PasskeyPage
        translations={translations}
        serviceName={deps.config.branding.serviceName}
        passkey={{
          path: urls.loginStep('passkey', action),
          optionsPath: urls.passkeyOptions('second_factor'),
          csrf: csrf.field(context),
        }}
        problems={problem === undefined ? [] : [passkeyProblem(translations, problem)]}
        totpPath={hasTotp ? urls.loginStep('totp', action) : undefined}
        startAgainPath={urls.login(action)}
      />
    ),
  });
}
