import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';
import { checkDisplayName, type DisplayNameProblem } from '#domain/accounts/account-names.ts';
import { chooseDisplayName } from '#domain/accounts/registrations/registration-steps.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { refusalProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';
import { openStep, type Step, stepPage } from './step.ts';

/** `GET /register/steps/{id}/display-name`. */
export async function showDisplayName(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const step = await openStep(deps, context, 'display-name');
  return step.ok ? showForm(deps, context, step, '', []) : step.response;
}

/** `POST /register/steps/{id}/display-name`: `action=set` with a name, or `action=skip`. */
export async function submitDisplayName(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const step = await openStep(deps, context, 'display-name');
  if (!step.ok) return step.response;
  const { registration, translations } = step;
  const typed = form.get('display_name') ?? '';
  const reject = (problem: FormProblem): HttpResponse => showForm(deps, context, step, typed, [problem]);
  if (isExpired) return reject(refusalProblem(translations, { reason: 'csrf-expired' }));

  const action = form.get('action') ?? 'set';
  if (action !== 'set' && action !== 'skip') return reject(refusalProblem(translations, { reason: 'invalid-action' }));
  const judged = action === 'set' ? checkDisplayName(typed) : undefined;
  if (judged?.ok === false) {
    const message = translations.t(DISPLAY_NAME_MESSAGES[judged.problem]);
    return reject({ code: 'invalid', field: 'display_name', message });
  }
  await chooseDisplayName(deps.database, registration.id, judged?.name);
  return redirect(deps.urls.registrationStep(registration.id, 'finish'));
}

const DISPLAY_NAME_MESSAGES: Readonly<Record<DisplayNameProblem, MessageKey>> = {
  empty: 'display_name.empty',
  'too-long': 'display_name.too_long',
  'forbidden-characters': 'display_name.forbidden_characters',
  invisible: 'display_name.invisible',
};

function showForm(
  deps: RegistrationDeps,
  context: RequestContext,
  step: Step,
  displayName: string,
  problems: readonly FormProblem[],
): HttpResponse {
  const { registration, translations } = step;
  return deps.pages.answer({
    ...stepPage(step, problems),
    title: translations.t('display_name.title'),
    content: (
      <DisplayNamePage
        translations={translations}
        path={deps.urls.registrationStep(registration.id, 'display-name')}
        csrf={deps.csrf.field(context)}
        username={registration.username}
        displayName={displayName}
        problems={problems}
      />
    ),
  });
}

/** Asks for the name that other users see. */
export function DisplayNamePage({
  translations,
  path,
  csrf,
  username,
  displayName,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  username: string;
  /** The previously entered value. */
  displayName: string;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('display_name.title')}>
        {translations.rich('display_name.text', { username: <bdi class="name">{username}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="display_name"
          isFirst
          label={translations.t('display_name.label')}
          autocomplete="name"
          value={displayName}
          problems={problems}
        />
        <div class="buttons">
          <Button name="action" value="set">
            {translations.t('display_name.button')}
          </Button>
          <Button kind="secondary" name="action" value="skip">
            {translations.t('display_name.skip')}
          </Button>
        </div>
      </Form>
    </>
  );
}
