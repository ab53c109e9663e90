import type { FormProblem } from '#browser/components/form.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { usernameOfHint } from '#domain/accounts/login-name.ts';
import {
  type StartOutcome,
  type Submission,
  startRegistration,
} from '#domain/accounts/registrations/start-registration.ts';
import {
  type Destination,
  destinationFormActions,
  destinationName,
  findDestination,
} from '#domain/authorizations/destination.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { redirectSignedIn } from './redirect-signed-in.ts';
import { RegisterPage } from './register.page.tsx';
import { type FormRefusal, refusalProblem, rejectedName, submissionProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';
import { bindRegistration } from './step.ts';

export const MAX_USERNAME_CHARACTERS = 255;

/** `GET /register/password`. */
export async function showPasswordForm(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  if (!deps.isRegistrationOpen) return redirect(deps.urls.login(action));
  const page = await readPageContext(deps, context, action);
  return showForm(deps, context, page, { username: proposedUsername(deps, context) ?? '', hasAcceptedTerms: false });
}

/** `POST /register/password`: starts the registration, or shows every problem of the form. */
export async function submitPasswordForm(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  const page = await readPageContext(deps, context, action);
  const submission = readSubmission(context, form, page);
  const typed = { username: submission.username, hasAcceptedTerms: submission.acceptsTerms };
  if (isExpired) return showForm(deps, context, page, { ...typed, refusal: { reason: 'csrf-expired' } });

  const outcome = await startRegistration(deps, submission);
  if (!outcome.ok) return reject(deps, context, page, typed, outcome);
  bindRegistration(context, outcome.id, deps.ttlSeconds, deps.clock.now());
  return redirect(deps.urls.registrationStep(outcome.id, 'finish'));
}

/** The same page after a form that named an unknown provider. */
export async function showUnknownProvider(
  deps: RegistrationDeps,
  context: RequestContext,
  username = '',
): Promise<HttpResponse> {
  const elsewhere = await redirectSignedIn(deps, context, parsePostAuthAction(context.query, deps.protocolName));
  if (elsewhere !== undefined) return elsewhere;
  const page = await readPageContext(deps, context, parsePostAuthAction(context.query, deps.protocolName));
  return showForm(deps, context, page, { username, hasAcceptedTerms: false, refusal: { reason: 'unknown-provider' } });
}

/** What the query proposes as username, by its own name or as `login_hint`. */
export function proposedUsername(deps: RegistrationDeps, context: RequestContext): string | undefined {
  const username = context.query.get('username')?.trim();
  if (username !== undefined && username.length <= MAX_USERNAME_CHARACTERS) return username;
  const { serverName } = deps.namePolicy;
  return usernameOfHint(context.query.get('login_hint'), { serverName, isEmailAllowed: false });
}

/** What the page depends on besides the form. */
interface PageContext {
  readonly action: PostAuthAction | undefined;
  readonly destination: Destination | undefined;
  readonly translations: Translations;
}

async function readPageContext(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<PageContext> {
  const destination = await findDestination(deps, action);
  return { action, destination, translations: deps.pages.language(context, destination?.uiLocales) };
}

function readSubmission(context: RequestContext, form: FormParameters, page: PageContext): Submission {
  return {
    username: form.get('username') ?? '',
    password: form.get('password') ?? '',
    passwordConfirm: form.get('password_confirm') ?? '',
    acceptsTerms: form.get('accept_terms') === 'on',
    action: page.action,
    locale: page.translations.language,
    address: context.clientAddress,
    userAgent: context.userAgent,
    signal: context.signal,
  };
}

/** What was typed and may be shown again. */
interface Typed {
  readonly username: string;
  readonly hasAcceptedTerms: boolean;
}

function reject(
  deps: RegistrationDeps,
  context: RequestContext,
  page: PageContext,
  typed: Typed,
  outcome: Exclude<StartOutcome, { readonly ok: true }>,
): HttpResponse {
  if (outcome.reason !== 'rejected') return showForm(deps, context, page, { ...typed, refusal: outcome });
  const { translations } = page;
  const names = outcome.problems.flatMap((found) => (found.field === 'username' ? [found.problem] : []));
  const { username, problems } = rejectedName(translations, typed.username, names, deps.namePolicy);
  const others = outcome.problems.flatMap((found) => {
    if (found.field === 'username') return [];
    return [submissionProblem(translations, found, deps.passwordRules.minimumLength)];
  });
  return showForm(deps, context, page, { ...typed, username, problems: [...problems, ...others] });
}

function showForm(
  deps: RegistrationDeps,
  context: RequestContext,
  { action, destination, translations }: PageContext,
  state: Typed & { readonly problems?: readonly FormProblem[]; readonly refusal?: FormRefusal },
): HttpResponse {
  const { urls, pages, tosUri } = deps;
  const { refusal } = state;
  const problems = refusal === undefined ? (state.problems ?? []) : [refusalProblem(translations, refusal)];
  const isOverloaded = refusal?.reason === 'overloaded';
  return pages.answer({
    status: isOverloaded ? 503 : 200,
    headers: isOverloaded ? { 'retry-after': String(refusal.retryAfterSeconds) } : {},
    title: translations.t('register.title'),
    translations,
    isRejected: problems.length > 0,
    hasNewPassword: true,
    formActions: destinationFormActions(destination),
    // Where the client has chosen the language, the reader's choice here would change nothing.
    languageLinks:
      destination?.uiLocales === undefined
        ? pages.languageLinks((language) => urls.registerWithPassword(action, [['ui_locales', language]]))
        : [],
    content: (
      <RegisterPage
        translations={translations}
        clientName={destination === undefined ? undefined : destinationName(destination, translations.language)}
        loginPath={urls.login(action)}
        form={{
          path: urls.registerWithPassword(action),
          csrf: deps.csrf.field(context),
          username: state.username,
          passwordRules: {
            minimumScore: deps.passwordRules.minimumComplexity,
            minimumLength: deps.passwordRules.minimumLength,
            serviceName: deps.serviceName,
          },
          terms: tosUri === undefined ? undefined : { uri: tosUri, isAccepted: state.hasAcceptedTerms },
          problems,
        }}
      />
    ),
  });
}
