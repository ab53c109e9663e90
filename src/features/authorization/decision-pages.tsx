import { type DecidingAccount, shownClient } from '#browser/components/client.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { refusalTitle } from '#browser/components/policy-refusal.tsx';
import { cleanName } from '#browser/components/text.tsx';
import { accountIdentifier, decidingAccount } from '#browser/deciding-account.ts';
import { ProblemPage, problemTitle } from '#browser/error-format.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { findUser } from '#domain/accounts/find-user.ts';
import type { Violation } from '#domain/policy/violations.ts';
import type { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import {
  type AskingClient,
  ConsentPage,
  type DecisionForm,
  ForbiddenPage,
  OtherAccountPage,
  type WantedAccount,
} from './consent.page.tsx';
import type { ActiveViewer, Step } from './next-step.ts';
import { consentScopes } from './next-step.ts';
import { type AuthorizationDeps, continuation, readerLanguage, type StoredRequest } from './stored-request.ts';

/** Shows the consent page. @param problem why the form is shown a second time */
export async function showConsent(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
  viewer: ActiveViewer,
  problem?: 'csrf_expired' | 'invalid_action',
): Promise<HttpResponse> {
  const translations = readerLanguage(deps.pages, context, stored.grant.locale);
  const client = askingClient(deps, stored, translations);
  return deps.pages.answer({
    title: translations.t('consent.title', { client: cleanName(client.name) }),
    translations,
    client,
    isRejected: problem !== undefined,
    // Both buttons redirect to the client. Signing out does so after the sign-in page.
    formActions: [stored.grant.target.redirectUri],
    content: (
      <ConsentPage
        translations={translations}
        client={client}
        scopes={consentScopes(stored.grant)}
        resources={deps.resourceRules.shown(stored.grant.resources)}
        account={await accountOf(deps, stored, viewer)}
        form={decisionForm(deps, context, stored)}
        problems={problem === undefined ? [] : [formProblem(translations, problem)]}
      />
    ),
  });
}

/** The client expects a different account from the one that is signed in (oauth 7.3 step 9). */
export async function showOtherAccount(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
  { viewer, expected }: Extract<Step, { readonly kind: 'other-account' }>,
): Promise<HttpResponse> {
  const translations = readerLanguage(deps.pages, context, stored.grant.locale);
  return deps.pages.answer({
    title: translations.t('consent.other_account.title'),
    translations,
    formActions: [stored.grant.target.redirectUri],
    content: (
      <OtherAccountPage
        translations={translations}
        client={askingClient(deps, stored, translations)}
        wanted={await wantedAccount(deps, expected)}
        account={await accountOf(deps, stored, viewer)}
        form={decisionForm(deps, context, stored)}
      />
    ),
  });
}

async function wantedAccount(deps: AuthorizationDeps, subject: string): Promise<WantedAccount> {
  const userId = parseId<'user'>(subject);
  if (userId === undefined) return { kind: 'unnamed' };
  const user = await findUser(deps.database, userId);
  return user === undefined ? { kind: 'gone' } : { kind: 'named', identifier: accountIdentifier(deps, user.username) };
}

/** 403: the policy does not allow the request (oauth 7.3 step 12). */
export async function showForbidden(
  deps: AuthorizationDeps,
  context: RequestContext,
  stored: StoredRequest,
  viewer: ActiveViewer,
  violations: readonly Violation[],
): Promise<HttpResponse> {
  const translations = readerLanguage(deps.pages, context, stored.grant.locale);
  const client = askingClient(deps, stored, translations);
  return deps.pages.answer({
    status: 403,
    title: refusalTitle(translations, client, violations),
    translations,
    formActions: [stored.grant.target.redirectUri],
    content: (
      <ForbiddenPage
        translations={translations}
        client={client}
        violations={violations}
        help={deps.config.branding}
        retryPath={deps.urls.authorizationGrant(stored.grant.id)}
        sessionsPath={deps.urls.account('sessions')}
        account={await accountOf(deps, stored, viewer)}
        form={decisionForm(deps, context, stored)}
      />
    ),
  });
}

/**
 * 403: replaces the general page for a rejected form. That page links to the URL of the POST, but this form is shown at
 * another URL.
 */
export function showRefusedForm(
  deps: AuthorizationDeps,
  context: RequestContext,
  error: LatchkeyError,
  grantIdText: string,
): HttpResponse {
  const id = parseId<'authorization-grant'>(grantIdText);
  if (id === undefined) throw error;
  const translations = readerLanguage(deps.pages, context, undefined);
  const link = { kind: 'form', href: deps.urls.consent(id) } as const;
  const problem = { code: error.code, requestId: context.task.id, link };
  return deps.pages.answer({
    status: 403,
    title: problemTitle(translations, error.code),
    translations,
    content: <ProblemPage translations={translations} problem={problem} />,
  });
}

function askingClient(
  deps: AuthorizationDeps,
  { client, grant }: StoredRequest,
  { language }: Translations,
): AskingClient {
  return { ...shownClient(client, language, deps), redirectTarget: redirectTarget(grant.target.redirectUri) };
}

function accountOf(
  deps: AuthorizationDeps,
  { grant }: StoredRequest,
  { user }: ActiveViewer,
): Promise<DecidingAccount> {
  return decidingAccount(deps, user, continuation(grant.id));
}

function decisionForm(deps: AuthorizationDeps, context: RequestContext, { grant }: StoredRequest): DecisionForm {
  return { path: deps.urls.authorize(), csrf: deps.csrf.field(context), grantId: grant.id };
}

const PROBLEM_MESSAGES = { csrf_expired: 'form.csrf_expired', invalid_action: 'form.invalid_action' } as const;

function formProblem(translations: Translations, code: keyof typeof PROBLEM_MESSAGES): FormProblem {
  return { code, message: translations.t(PROBLEM_MESSAGES[code]) };
}
