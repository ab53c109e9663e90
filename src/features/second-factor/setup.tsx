import type { FormProblem } from '#browser/components/form.tsx';
import { completionRequest, finishLogin, openPendingLogin, refuseLogin, startAgain } from '#browser/pending-login.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { completePendingLogin } from '#domain/login-completion/complete-login.ts';
import { setUpFactor } from '#domain/login-completion/set-up-factor.ts';
import { showTotpSecret } from '#domain/records/totp-secret.ts';
import { type FactorSetup, openSetup } from '#domain/second-factors/factor-setup.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type CodeProblem, codeProblem } from './code.page.tsx';
import type { SecondFactorDeps } from './code.tsx';
import { RecoveryCodesPage, SetupPage } from './setup.page.tsx';

/** `GET /login/setup`: shows what to set up, and then the recovery codes until the user continues. */
export async function showSetup(deps: SecondFactorDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openSetupStep(deps, context);
  return step.ok ? await showForm(deps, context, step) : step.answer;
}

/** `POST /login/setup`: takes a code from the app, or signs the user in after the recovery codes were shown. */
export async function submitSetup(deps: SecondFactorDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openSetupStep(deps, context);
  if (!step.ok) return step.answer;
  if (isExpired) return await showForm(deps, context, step, { reason: 'csrf-expired' });
  const { pending } = step;
  if (pending.isEnrolled) return await finish(deps, context, pending);

  const request = completionRequest(deps, context);
  const outcome = await setUpFactor(deps, { pending, code: form.get('code') ?? '', request });
  if (outcome.ok) return redirect(deps.urls.loginStep('setup', pending.action));
  if (outcome.reason === 'not-open') return startAgain(deps, context, 'sign-in', pending.action);
  return await showForm(deps, context, step, outcome);
}

/** The app's code was the second factor. */
async function finish(deps: SecondFactorDeps, context: RequestContext, pending: PendingLogin): Promise<HttpResponse> {
  const request = completionRequest(deps, context);
  const outcome = await deps.database.transaction(
    (transaction) => completePendingLogin(deps, transaction, pending, { kind: 'totp' }, request),
    { isRepeatable: true },
  );
  if (!outcome.ok) return await refuseLogin(deps, context, pending, outcome);
  return finishLogin(deps, context, { ...outcome, purpose: 'sign-in' }, pending.action);
}

type SetupStep =
  | { readonly ok: true; readonly pending: PendingLogin; readonly setup: FactorSetup }
  | { readonly ok: false; readonly answer: HttpResponse };

async function openSetupStep(deps: SecondFactorDeps, context: RequestContext): Promise<SetupStep> {
  const opened = await openPendingLogin(deps, context, 'sign-in');
  if (!opened.ok) return opened;
  const { pending } = opened;
  // The app was set up in another browser in the meantime, or setup is not required.
  if (pending.setupSealed === undefined || (pending.hasTotp && !pending.isEnrolled)) {
    const address = deps.urls.loginStep('totp', pending.action);
    return { ok: false, answer: redirect(address) };
  }
  return { ok: true, pending, setup: openSetup(deps.keyRing, pending.id, pending.setupSealed) };
}

async function showForm(
  deps: SecondFactorDeps,
  context: RequestContext,
  { pending, setup }: Extract<SetupStep, { readonly ok: true }>,
  problem?: CodeProblem,
): Promise<HttpResponse> {
  const { urls, csrf, pages } = deps;
  const { action, isEnrolled, user } = pending;
  const { serviceName } = deps.config.branding;
  const destination = await findDestination(deps, action);
  const translations = pages.language(context, destination?.uiLocales);
  const problems: FormProblem[] = problem === undefined ? [] : [codeProblem(translations, 'totp', problem)];
  const shared = { translations, path: urls.loginStep('setup', action), csrf: csrf.field(context), problems };
  return pages.answer({
    title: translations.t(isEnrolled ? 'second_factor.codes.title' : 'second_factor.setup.title'),
    translations,
    isRejected: problem !== undefined,
    formActions: destinationFormActions(destination),
    content: isEnrolled ? (
      <RecoveryCodesPage {...shared} codes={setup.recoveryCodes} />
    ) : (
      <SetupPage
        {...shared}
        serviceName={serviceName}
        shown={showTotpSecret(setup.secret, { issuer: serviceName, account: user.username })}
        isOver={problem?.reason === 'too-many-attempts'}
        startAgainPath={urls.login(action)}
      />
    ),
  });
}
