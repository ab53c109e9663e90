import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { type NameSuggestions, SuggestionButtons, SuggestionForm } from '#browser/components/name-suggestions.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { rejectedName } from '#browser/username-problems.ts';
import { checkHomeserverName } from '#domain/accounts/registrations/homeserver-name.ts';
import { findNameProblems, type NameProblem } from '#domain/accounts/registrations/registration-policy.ts';
import { renameRegistration } from '#domain/accounts/registrations/registration-steps.ts';
import { suggestFreeNames } from '#domain/accounts/registrations/suggest-names.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { refusalProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';
import { openStep, type Step, stepPage } from './step.ts';

/** `GET /register/steps/{id}/username`: only if the chosen name is no longer available. */
export async function showUsername(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openStep(deps, context, 'username');
  if (!step.ok) return step.response;
  const { id, username, hasFixedUsername } = step.registration;
  if (hasFixedUsername) return redirect(deps.urls.registrationStep(id, 'finish'));
  const problems = await findNameProblems(deps.database, username, deps.namePolicy);
  if (problems.length > 0) return await showRejected(deps, context, step, username, problems);
  const requested = await checkHomeserverName(deps, username);
  if (requested === 'available') return redirect(deps.urls.registrationStep(id, 'finish'));
  if (requested === 'exists') return await showRejected(deps, context, step, username, [requested]);
  return showForm(deps, context, step, username, [refusalProblem(step.translations, { reason: requested })]);
}

/** `POST /register/steps/{id}/username`. */
export async function submitUsername(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openStep(deps, context, 'username');
  if (!step.ok) return step.response;
  const { registration, translations } = step;
  if (registration.hasFixedUsername) return redirect(deps.urls.registrationStep(registration.id, 'finish'));
  const typed = form.get('username') ?? '';
  if (isExpired) {
    return showForm(deps, context, step, typed, [refusalProblem(translations, { reason: 'csrf-expired' })]);
  }
  const outcome = await renameRegistration(deps, registration.id, typed, context.clientAddress);
  if (outcome.ok) return redirect(deps.urls.registrationStep(registration.id, 'finish'));
  if (outcome.reason === 'rejected') return await showRejected(deps, context, step, typed, outcome.problems);
  return showForm(deps, context, step, typed, [refusalProblem(translations, outcome)]);
}

async function showRejected(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  typed: string,
  found: readonly ('required' | NameProblem)[],
): Promise<HttpResponse> {
  const { username, problems } = rejectedName(step.translations, typed, found, deps.namePolicy);
  const names = found.includes('exists') ? await suggestFreeNames(deps.database, typed, deps.namePolicy) : [];
  return showForm(deps, context, step, username, problems, { names, sentAs: 'username' });
}

function showForm(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  username: string,
  problems: readonly FormProblem[],
  suggestions?: NameSuggestions,
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
        suggestions={suggestions}
        problems={problems}
      />
    ),
  });
}

/** Asks for another username, because the chosen one is no longer available. */
export function UsernamePage({
  translations,
  path,
  csrf,
  lostName,
  username,
  suggestions,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  lostName: string;
  /** The previously entered value. */
  username: string;
  /** Undefined unless the name is taken. */
  suggestions: NameSuggestions | undefined;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('username.lost.title')}>
        {translations.rich('username.lost.text', { username: <bdi class="name">{lostName}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="username"
          label={translations.t('login.username')}
          autocomplete="username"
          hint={translations.t('username.hint')}
          value={username}
          problems={problems}
        >
          {suggestions && <SuggestionButtons translations={translations} suggestions={suggestions} />}
        </TextField>
        <Button>{translations.t('username.button')}</Button>
      </Form>
      {suggestions && <SuggestionForm suggestions={suggestions} action={path} csrf={csrf} fields={[]} />}
    </>
  );
}
