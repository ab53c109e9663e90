import type { PageDeps } from '#browser/browser.ts';
import { afterPassword, isPasskeyOfferOn } from '#browser/passkey-offer.ts';
import {
  completionRequest,
  finishLogin,
  openPendingLogin,
  type Purpose,
  refuseLogin,
  startAgain,
} from '#browser/pending-login.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { rememberAccount } from '#domain/browser-sessions/known-browsers.ts';
import { type CodeDeps, type CodeKind, tryCode } from '#domain/login-completion/try-code.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { CodePage, type CodeProblem, codeProblem } from './code.page.tsx';

export type SecondFactorDeps = PageDeps & Pick<CodeDeps, 'limits'>;

/** Which code a page asks for, and for what purpose. */
export interface CodeStep {
  readonly kind: CodeKind;
  readonly purpose: Purpose;
}

const DAY_MS = 86_400_000;

export async function showCode(deps: SecondFactorDeps, context: RequestContext, step: CodeStep): Promise<HttpResponse> {
  const opened = await openPendingLogin(deps, context, step.purpose);
  if (!opened.ok) return opened.answer;
  return withoutCodes(deps, context, step, opened.pending) ?? (await showForm(deps, context, step, opened.pending));
}

export async function submitCode(
  deps: SecondFactorDeps,
  context: RequestContext,
  step: CodeStep,
): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const opened = await openPendingLogin(deps, context, step.purpose);
  if (!opened.ok) return opened.answer;
  const { pending } = opened;
  const elsewhere = withoutCodes(deps, context, step, pending);
  if (elsewhere !== undefined) return elsewhere;
  const isTrustRequested = form.get('trust_browser') === 'on' && trustDays(deps, step) > 0;
  if (isExpired) return await showForm(deps, context, step, pending, { reason: 'csrf-expired' }, isTrustRequested);

  const known = rememberAccount(deps.viewers.knownBrowsers(context), pending.user.id);
  const nonce = known[0]?.nonce;
  const until = new Date(deps.clock.now() + trustDays(deps, step) * DAY_MS);
  const trust = isTrustRequested && nonce !== undefined ? { nonce, until } : undefined;
  const request = completionRequest(deps, context, trust);
  const outcome = await tryCode(deps, { pending, kind: step.kind, code: form.get('code') ?? '', request });
  if (outcome.ok) {
    const { action, firstFactor } = pending;
    const isOffered = step.purpose === 'sign-in' && firstFactor.kind === 'password';
    const target = isOffered ? await afterPassword(deps, form, outcome.user, action) : undefined;
    return finishLogin(deps, context, { ...outcome, purpose: step.purpose }, action, known, target);
  }
  switch (outcome.reason) {
    case 'required':
    case 'invalid-code':
    case 'too-many-attempts':
    case 'rate-limited':
      return await showForm(deps, context, step, pending, outcome, isTrustRequested);
    default:
      return await refuseLogin(deps, context, pending, outcome);
  }
}

/** Trusting a browser applies only to sign-in. Reauthentication must prove that the user is present. */
function trustDays({ secondFactors }: SecondFactorDeps, { purpose }: CodeStep): number {
  return purpose === 'sign-in' ? secondFactors.trustDays : 0;
}

/** Redirects users who have no codes, because they never enrolled or no longer are. */
function withoutCodes(
  deps: SecondFactorDeps,
  context: RequestContext,
  { purpose }: CodeStep,
  pending: PendingLogin,
): HttpResponse | undefined {
  if (pending.hasTotp) return undefined;
  if (purpose === 'sign-in' && pending.hasPasskey && deps.signIn.relyingParty !== undefined) {
    return redirect(deps.urls.loginStep('passkey', pending.action));
  }
  if (purpose === 'sign-in' && pending.setupSealed !== undefined) {
    return redirect(deps.urls.loginStep('setup', pending.action));
  }
  return startAgain(deps, context, purpose, pending.action);
}

async function showForm(
  deps: SecondFactorDeps,
  context: RequestContext,
  step: CodeStep,
  { action, hasPasskey }: PendingLogin,
  problem?: CodeProblem,
  isTrustRequested = false,
): Promise<HttpResponse> {
  const { urls, csrf, pages } = deps;
  const { kind, purpose } = step;
  const destination = await findDestination(deps, action);
  const translations = pages.language(context, destination?.uiLocales);
  const asksForDevice = purpose === 'sign-in' && !hasPasskey && isPasskeyOfferOn(deps);
  const path = (of: CodeKind) => {
    const name = of === 'totp' ? 'totp' : 'recovery-code';
    return purpose === 'sign-in' ? urls.loginStep(name, action) : urls.reauthStep(name, action);
  };
  return pages.answer({
    title: translations.t('second_factor.title'),
    translations,
    isRejected: problem !== undefined,
    hasPasskey: asksForDevice,
    formActions: destinationFormActions(destination),
    content: (
      <CodePage
        translations={translations}
        kind={kind}
        serviceName={deps.config.branding.serviceName}
        path={problem?.reason === 'too-many-attempts' ? undefined : path(kind)}
        csrf={csrf.field(context)}
        problems={problem === undefined ? [] : [codeProblem(translations, kind, problem)]}
        asksForDevice={asksForDevice}
        trustDays={trustDays(deps, step)}
        isTrustRequested={isTrustRequested}
        otherPath={path(kind === 'totp' ? 'recovery_code' : 'totp')}
        passkeyPath={
          purpose === 'sign-in' && hasPasskey && deps.signIn.relyingParty !== undefined
            ? urls.loginStep('passkey', action)
            : undefined
        }
        startAgainPath={purpose === 'sign-in' ? urls.login(action) : urls.reauth(action)}
      />
    ),
  });
}
