import { readCaptchaResponse, type ShownCaptcha, shownCaptcha } from '#browser/captcha.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import type { NameSuggestions } from '#browser/components/name-suggestions.tsx';
import { destinationParty } from '#browser/components/parties.tsx';
import { emailProblem } from '#browser/email-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { invitationFields, readInvitation } from '#browser/invitation-fields.ts';
import { moduleProblem } from '#browser/module-problems.ts';
import { bindRegistration } from '#browser/registrations-cookie.ts';
import { rejectedName } from '#browser/username-problems.ts';
import { usernameOfHint } from '#domain/accounts/login-name.ts';
import { countStart } from '#domain/accounts/registrations/count-registrations.ts';
import { findInvitation, type PresentedInvitation } from '#domain/accounts/registrations/invitation.ts';
import {
  type StartOutcome,
  type Submission,
  startRegistration,
} from '#domain/accounts/registrations/start-registration.ts';
import { suggestFreeNames } from '#domain/accounts/registrations/suggest-names.ts';
import {
  type Destination,
  destinationFormActions,
  destinationName,
  findDestination,
} from '#domain/authorizations/destination.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { redirectSignedIn } from './redirect-signed-in.ts';
import { RegisterPage } from './register.page.tsx';
import { type FormRefusal, refusalProblem, submissionProblem } from './registration-problems.ts';
import type { RegistrationDeps } from './step.ts';

export const MAX_USERNAME_CHARACTERS = 255;

/** `GET /register/password`. */
export async function showPasswordForm(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  if (!deps.registrationMethods.password.isOpen) return redirect(deps.urls.login(action));
  const page = await readPageContext(deps, context, action);
  return await showForm(deps, context, page, {
    username: proposedUsername(deps, context) ?? '',
    email: '',
    hasAcceptedTerms: false,
  });
}

/**
 * `POST /register/password`: starts the registration, or shows every problem of the form. With `suggestion`, shows the
 * form with that username and checks nothing.
 */
export async function submitPasswordForm(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const action = parsePostAuthAction(context.query, deps.protocolName);
  const elsewhere = await redirectSignedIn(deps, context, action);
  if (elsewhere !== undefined) return elsewhere;
  const page = await readPageContext(deps, context, action);
  const submission = readSubmission(context, form, page);
  const { username, email } = submission;
  const typed = { username, email, hasAcceptedTerms: submission.acceptsTerms };
  if (isExpired) return await showForm(deps, context, page, { ...typed, refusal: { reason: 'csrf-expired' } });
  const suggestion = form.get('suggestion');
  if (suggestion !== undefined) {
    return await showForm(deps, context, page, { ...typed, username: suggestion.slice(0, MAX_USERNAME_CHARACTERS) });
  }

  const outcome = await startRegistration(deps, submission);
  countStart(undefined, outcome);
  if (!outcome.ok) return await reject(deps, context, page, typed, outcome);
  bindRegistration(context, outcome.id, deps.ttlSeconds, deps.clock.now());
  return redirect(deps.urls.registrationStep(outcome.id, 'finish'));
}

/** Returns the username that the query suggests, as `username` or as `login_hint`. */
export function proposedUsername(deps: RegistrationDeps, context: RequestContext): string | undefined {
  const username = context.query.get('username')?.trim();
  if (username !== undefined && username.length <= MAX_USERNAME_CHARACTERS) return username;
  const { serverName } = deps.namePolicy;
  return usernameOfHint(context.query.get('login_hint'), { serverName, isEmailAllowed: false });
}

/** What the page depends on in addition to the form. */
interface PageContext {
  readonly action: PostAuthAction | undefined;
  /** From the URL, kept for the form's target. */
  readonly invitation: PresentedInvitation | undefined;
  readonly destination: Destination | undefined;
  readonly captcha: ShownCaptcha | undefined;
  readonly translations: Translations;
}

async function readPageContext(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<PageContext> {
  const destination = await findDestination(deps, action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  return {
    action,
    invitation: readInvitation(context.query),
    destination,
    captcha: await shownCaptcha(deps, 'register', context.clientAddress, translations),
    translations,
  };
}

function readSubmission(context: RequestContext, form: FormParameters, page: PageContext): Submission {
  return {
    username: form.get('username') ?? '',
    email: form.get('email') ?? '',
    password: form.get('password') ?? '',
    passwordConfirm: form.get('password_confirm'),
    acceptsTerms: form.get('accept_terms') === 'on',
    captcha: readCaptchaResponse(form),
    invitation: page.invitation,
    action: page.action,
    locale: page.translations.language,
    address: context.clientAddress,
    userAgent: context.userAgent,
    signal: context.signal,
  };
}

/** Entered values that may be shown in the form a second time. */
interface Typed {
  readonly username: string;
  readonly email: string;
  readonly hasAcceptedTerms: boolean;
}

async function reject(
  deps: RegistrationDeps,
  context: RequestContext,
  page: PageContext,
  typed: Typed,
  outcome: Exclude<StartOutcome, { readonly ok: true }>,
): Promise<HttpResponse> {
  if (outcome.reason !== 'rejected') return await showForm(deps, context, page, { ...typed, refusal: outcome });
  const { translations } = page;
  const names = outcome.problems.flatMap((found) => (found.field === 'username' ? [found.problem] : []));
  const { username, problems } = rejectedName(translations, typed.username, names, deps.namePolicy);
  const others = outcome.problems.flatMap((found) => {
    if (found.field === 'username') return [];
    if (found.field === 'email') return [emailProblem(translations, found.problem)];
    if (found.field === 'policy') return [moduleProblem(translations, found.problem, fieldOf(found.problem))];
    return [submissionProblem(translations, found, deps.passwordRules.minimumLength)];
  });
  const free = names.includes('exists') ? await suggestFreeNames(deps.database, typed.username, deps.namePolicy) : [];
  return await showForm(deps, context, page, {
    ...{ ...typed, username, problems: [...problems, ...others] },
    suggestions: { names: free, sentAs: 'suggestion' },
  });
}

const FIELDS = new Set(['username', 'email', 'password', 'accept_terms']);

/** Returns the violation's field, if the form has it. */
function fieldOf({ field }: ModuleViolation): string | undefined {
  return field !== undefined && FIELDS.has(field) ? field : undefined;
}

async function showForm(
  deps: RegistrationDeps,
  context: RequestContext,
  { action, invitation, destination, captcha, translations }: PageContext,
  state: Typed & {
    readonly problems?: readonly FormProblem[];
    readonly refusal?: FormRefusal;
    readonly suggestions?: NameSuggestions;
  },
): Promise<HttpResponse> {
  const { urls, pages, tosUri } = deps;
  const kept = invitationFields(invitation);
  // The proof matters only once the registration starts.
  const invited =
    invitation && (await findInvitation(deps, { ...invitation, proof: undefined }, context.clientAddress))?.email;
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
    client: destinationParty(deps, destination, translations.language),
    captcha: captcha?.widget,
    formActions: destinationFormActions(destination),
    // If the client chose the language, a choice on this page would have no effect.
    languageLinks:
      destination?.uiLocales === undefined
        ? pages.languageLinks((language) => urls.registerWithPassword(action, [...kept, ['ui_locales', language]]))
        : [],
    content: (
      <RegisterPage
        translations={translations}
        clientName={destination === undefined ? undefined : destinationName(destination, translations.language)}
        loginPath={urls.login(action)}
        form={{
          path: urls.registerWithPassword(action, kept),
          csrf: deps.csrf.field(context),
          username: state.username,
          suggestions: state.suggestions,
          email:
            invited === undefined
              ? deps.isEmailRequired
                ? { value: state.email, isFixed: false }
                : undefined
              : { value: invited.email.address, isFixed: true },
          passwordRules: {
            minimumScore: deps.passwordRules.minimumComplexity,
            minimumLength: deps.passwordRules.minimumLength,
            serviceName: deps.serviceName,
          },
          terms: tosUri === undefined ? undefined : { uri: tosUri, isAccepted: state.hasAcceptedTerms },
          captcha,
          problems,
        }}
      />
    ),
  });
}
