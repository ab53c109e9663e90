import type { FormProblem } from '#browser/form-problems.ts';
import { findNameProblems, type NameProblem } from '#domain/accounts/registrations/name-policy.ts';
import { renameRegistration } from '#domain/accounts/registrations/registration-steps.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { RegistrationDeps } from './deps.ts';
import { refusalProblem, rejectedName } from './registration-problems.ts';
import { openStep, type Step, stepPage } from './step.ts';
import { UsernamePage } from './username.page.tsx';

/** `GET /register/steps/{id}/username`: only when the name that was chosen cannot be had any more. */
export async function showUsername(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openStep(deps, context, 'username');
  if (!('registration' in step)) return step;
  const { id, username } = step.registration;
  const problems = await findNameProblems(deps.database, username, deps.namePolicy);
  if (problems.length === 0) return redirect(deps.urls.registrationStep(id, 'finish'));
  return answerRejected(deps, context, step, username, problems);
}

/** `POST /register/steps/{id}/username`. */
export async function submitUsername(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openStep(deps, context, 'username');
  if (!('registration' in step)) return step;
  const { registration, translations } = step;
  const typed = form.get('username') ?? '';
  if (isExpired) {
    return answer(deps, context, step, typed, [refusalProblem(translations, { reason: 'csrf-expired' })]);
  }
  const outcome = await renameRegistration(deps, registration.id, typed, context.clientAddress);
  if (outcome.ok) return redirect(deps.urls.registrationStep(registration.id, 'finish'));
  if (outcome.reason === 'rejected') return answerRejected(deps, context, step, typed, outcome.problems);
  return answer(deps, context, step, typed, [refusalProblem(translations, outcome)]);
}

function answerRejected(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  typed: string,
  found: readonly ('required' | NameProblem)[],
): HttpResponse {
  const { username, problems } = rejectedName(step.translations, typed, found, deps.namePolicy);
  return answer(deps, context, step, username, problems);
}

function answer(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  username: string,
  problems: readonly FormProblem[],
): HttpResponse {
  const { registration, translations } = step;
  return deps.pages.answer({
    ...stepPage(step, problems),
    title: translations.t('username.lost.title'),
    content: (
      <UsernamePage
        translations={translations}
        path={deps.urls.registrationStep(registration.id, 'username')}
        csrf={deps.csrf.field(context)}
        lostName={registration.username}
        username={username}
        problems={problems}
      />
    ),
  });
}
