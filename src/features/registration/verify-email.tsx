import { emailProblem } from '#browser/email-problems.ts';
import { commonRefusalProblem } from '#browser/form-problems.ts';
import { checkEmailCode } from '#domain/accounts/email-authentications/check-email-code.ts';
import type { EmailAuthentication } from '#domain/accounts/email-authentications/email-authentication.ts';
import { checkEmailPolicy } from '#domain/accounts/email-authentications/email-policy.ts';
import { resendEmailCode } from '#domain/accounts/email-authentications/resend-email-code.ts';
import { findRegistrationEmail, replaceRegistrationEmail } from '#domain/accounts/registrations/registration-email.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, redirect, responseFor } from '#platform/http/response.ts';
import { emailCodeProblem, refusalProblem } from './registration-problems.ts';
import { openStep, type RegistrationDeps, type Step, stepPage } from './step.ts';
import { type Shown, VerifyEmailPage } from './verify-email.page.tsx';

/** `GET /register/steps/{id}/verify-email`: while the registration has an unverified address. */
export async function showVerifyEmail(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openEmailStep(deps, context);
  return step.ok ? showPage(deps, context, step) : step.response;
}

/** `POST /register/steps/{id}/verify-email`: `action=verify` with a code, `resend`, or `change` with an address. */
export async function submitVerifyEmail(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openEmailStep(deps, context);
  if (!step.ok) return step.response;
  const changedTo = form.get('action') === 'change' ? (form.get('email') ?? '') : undefined;
  if (isExpired) {
    const problem = refusalProblem(step.translations, { reason: 'csrf-expired' });
    return showPage(deps, context, step, { problems: [problem], changedTo });
  }
  switch (form.get('action') ?? 'verify') {
    case 'verify':
      return await verify(deps, context, step, form);
    case 'resend':
      return await resend(deps, context, step);
    case 'change':
      if (step.registration.hasFixedEmail) {
        return showPage(deps, context, step, {
          problems: [refusalProblem(step.translations, { reason: 'invalid-action' })],
        });
      }
      return await change(deps, context, step, changedTo ?? '');
    default:
      return showPage(deps, context, step, {
        problems: [refusalProblem(step.translations, { reason: 'invalid-action' })],
      });
  }
}

/** The step of a registration whose address must be verified. */
interface EmailStep extends Step {
  readonly email: EmailAuthentication;
}

async function openEmailStep(deps: RegistrationDeps, context: RequestContext): Promise<EmailStep | Responded> {
  const step = await openStep(deps, context, 'verify-email');
  if (!step.ok) return step;
  const { id } = step.registration;
  const email = await findRegistrationEmail(deps, id);
  if (email === undefined || email.state === 'proven') {
    return responseFor(redirect(deps.urls.registrationStep(id, 'finish')));
  }
  return { ...step, email };
}

async function verify(
  deps: RegistrationDeps,
  context: RequestContext,
  step: EmailStep,
  form: FormParameters,
): Promise<HttpResponse> {
  const { email, registration, translations } = step;
  const outcome = await checkEmailCode(deps, email.id, form.get('code') ?? '');
  if (outcome.ok) return redirect(deps.urls.registrationStep(registration.id, 'finish'));
  switch (outcome.reason) {
    case 'malformed':
    case 'wrong': {
      const code = outcome.reason === 'malformed' ? 'invalid' : 'invalid_code';
      const problems = [emailCodeProblem(translations, code, !outcome.isLast)];
      const after: EmailStep = outcome.isLast ? { ...step, email: { ...email, state: 'over' } } : step;
      return showPage(deps, context, after, { problems });
    }
    // Another tab was faster. The redirect reads the new state.
    case 'not-open':
      return redirect(deps.urls.registrationStep(registration.id, 'verify-email'));
    case 'rate-limited':
      return showPage(deps, context, step, { problems: [commonRefusalProblem(translations, outcome)] });
  }
}

/** If no more codes can be tried, the same address gets a new authentication. */
async function resend(deps: RegistrationDeps, context: RequestContext, step: EmailStep): Promise<HttpResponse> {
  const { email, registration, translations } = step;
  const { clientAddress: address } = context;
  const sent =
    email.state === 'open'
      ? await resendEmailCode(deps, email, address)
      : await replaceRegistrationEmail(deps, registration.id, {
          email: { address: email.email, key: email.emailKey },
          locale: translations.language,
          address,
        });
  if (sent.ok) return redirectToSent(deps, step);
  return showPage(deps, context, step, {
    problems: [commonRefusalProblem(translations, { ...sent, reason: 'rate-limited' })],
  });
}

async function change(
  deps: RegistrationDeps,
  context: RequestContext,
  step: EmailStep,
  typed: string,
): Promise<HttpResponse> {
  const { registration, translations } = step;
  const judged = await checkEmailPolicy(typed, deps.emailPolicy);
  if (!judged.ok) {
    const found = typed.trim() === '' ? ['required' as const] : judged.problems;
    const problems = found.map((problem) => emailProblem(translations, problem));
    return showPage(deps, context, step, { problems, changedTo: typed });
  }
  const { clientAddress: address } = context;
  const { language: locale } = translations;
  const sent = await replaceRegistrationEmail(deps, registration.id, { email: judged.email, locale, address });
  if (sent.ok) return redirectToSent(deps, step);
  const problems = [commonRefusalProblem(translations, { ...sent, reason: 'rate-limited' })];
  return showPage(deps, context, step, { problems, changedTo: typed });
}

function redirectToSent({ notices, urls }: RegistrationDeps, { registration }: EmailStep): HttpResponse {
  return redirect(urls.registrationStep(registration.id, 'verify-email', [notices.field('code_sent')]));
}

function showPage(
  deps: RegistrationDeps,
  context: RequestContext,
  step: EmailStep,
  { problems = [], changedTo }: Partial<Pick<Shown, 'problems' | 'changedTo'>> = {},
): HttpResponse {
  const { email, registration, translations } = step;
  return deps.pages.answer({
    ...stepPage(step, problems),
    title: translations.t('verify_email.title'),
    content: (
      <VerifyEmailPage
        translations={translations}
        path={deps.urls.registrationStep(registration.id, 'verify-email')}
        csrf={deps.csrf.field(context)}
        email={email.email}
        isFixed={registration.hasFixedEmail}
        minutes={Math.round(deps.codeTtlSeconds / 60)}
        shown={{
          isOver: email.state === 'over',
          notice: problems.length === 0 ? deps.notices.read(context) : undefined,
          problems,
          changedTo,
        }}
      />
    ),
  });
}
