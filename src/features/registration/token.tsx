import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import {
  attachRegistrationToken,
  findAttachedToken,
  type TokenOutcome,
} from '#domain/accounts/registrations/registration-token.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { refusalProblem, tokenProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';
import { openStep, type Step, stepPage } from './step.ts';

/** `GET /register/steps/{id}/token`: only while the registration has no valid token. */
export async function showToken(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openStep(deps, context, 'token');
  if (!step.ok) return step.response;
  const attached = await findAttachedToken(deps, step.registration.id);
  if (attached === 'valid' || !deps.registrationMethods.of(step.registration).isTokenRequired) {
    return redirect(deps.urls.registrationStep(step.registration.id, 'finish'));
  }
  // The token was valid before, but has since been used up, expired or been revoked.
  const problems = attached === 'invalid' ? [tokenProblem(step.translations, 'invalid')] : [];
  return showForm(deps, context, step, problems);
}

/** `POST /register/steps/{id}/token`. */
export async function submitToken(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openStep(deps, context, 'token');
  if (!step.ok) return step.response;
  const { registration, translations } = step;
  if (isExpired) return showForm(deps, context, step, [refusalProblem(translations, { reason: 'csrf-expired' })]);
  const token = (form.get('token') ?? '').trim();
  if (token === '') return showForm(deps, context, step, [tokenProblem(translations, 'required')]);
  const outcome = await attachRegistrationToken(deps, registration.id, token, context.clientAddress);
  if (outcome.ok) return redirect(deps.urls.registrationStep(registration.id, 'finish'));
  return showForm(deps, context, step, [problemOf(translations, outcome)]);
}

function problemOf(translations: Translations, outcome: Exclude<TokenOutcome, { readonly ok: true }>): FormProblem {
  switch (outcome.reason) {
    case 'invalid-token':
      return tokenProblem(translations, 'invalid');
    case 'other-email':
      return tokenProblem(translations, 'other_email');
    case 'rate-limited':
      return refusalProblem(translations, outcome);
  }
}

function showForm(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  problems: readonly FormProblem[],
): HttpResponse {
  const { registration, translations } = step;
  return deps.pages.answer({
    ...stepPage(step, problems),
    title: translations.t('token.title'),
    content: (
      <TokenPage
        translations={translations}
        path={deps.urls.registrationStep(registration.id, 'token')}
        csrf={deps.csrf.field(context)}
        problems={problems}
      />
    ),
  });
}

/** Asks for a registration token. The entered value is not shown a second time, because it is a secret. */
export function TokenPage({
  translations,
  path,
  csrf,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('token.title')}>{translations.t('token.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="token"
          label={translations.t('token.label')}
          autocomplete="off"
          value=""
          isFirst
          problems={problems}
        />
        <Button>{translations.t('token.button')}</Button>
      </Form>
    </>
  );
}
