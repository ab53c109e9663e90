import type { Browser, PageDeps } from '#browser/browser.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { LanguageLink } from '#browser/layout.tsx';
import { foldUsername } from '#domain/accounts/account-names.ts';
import type { FinishDeps } from '#domain/accounts/registrations/finish-registration.ts';
import { findRegistration, type Registration, registrationState } from '#domain/accounts/registrations/registration.ts';
import { RequesterPolicy } from '#domain/accounts/registrations/registration-policy.ts';
import type { RegistrationDeps as StartDeps } from '#domain/accounts/registrations/start-registration.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, type RegistrationId, timeOfId } from '#platform/base/ids.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';

/** Core and browser, and the settings of the operations of a registration. */
export type RegistrationDeps = PageDeps & StartDeps & FinishDeps;

export function registrationDeps(core: Core, browser: Browser): RegistrationDeps {
  const { account, branding, homeserver, passwords, policy, protocolName, rateLimiting } = core.config;
  const { adminUsers, registration, requester } = policy.data;
  return {
    ...core,
    ...browser,
    limits: rateLimiting,
    namePolicy: {
      serverName: homeserver.homeserver,
      ...registration,
      reservedUsernames: new Set(adminUsers.map(foldUsername)),
    },
    requesterPolicy: new RequesterPolicy(requester),
    passwordRules: passwords,
    serviceName: branding.serviceName,
    tosUri: branding.tosUri,
    protocolName,
    ttlSeconds: account.registrationTtlSeconds,
  };
}

/** An open registration in the browser that started it, and what every page of a step needs. */
export interface Step {
  readonly registration: Registration;
  readonly translations: Translations;
  /** Targets of the redirects after an accepted form, which browsers check against `form-action`. */
  readonly formActions: readonly string[];
  readonly languageLinks: readonly LanguageLink[];
}

/**
 * The checks that all steps start with (browser-flows 5.8). A completed registration redirects to its target. Throws
 * `registration_not_found` and `registration_expired`.
 */
export async function openStep(
  deps: RegistrationDeps,
  context: RequestContext,
  name: 'display-name' | 'username',
): Promise<Step | HttpResponse> {
  // Attributes the request to a user who is signed in; they may register another account nevertheless.
  await deps.viewers.read(context);
  const id = boundRegistration(context, context.params['id']);
  const registration = id === undefined ? undefined : await findRegistration(deps.database, id, deps.protocolName);
  if (registration === undefined) throw notFound(deps);
  const { action } = registration;
  const state = registrationState(registration, deps.ttlSeconds, deps.clock.now());
  if (state === 'completed') return redirect(deps.urls.afterAuthentication(action));
  if (state === 'expired') throw expired(deps, action);
  const destination = await findDestination(deps, action);
  const { pages, urls } = deps;
  return {
    registration,
    translations: pages.language(context, destination?.uiLocales),
    formActions: destinationFormActions(destination),
    languageLinks:
      destination?.uiLocales === undefined
        ? pages.languageLinks((language) => `${urls.registrationStep(registration.id, name)}?ui_locales=${language}`)
        : [],
  };
}

/** What the pages of all steps share. */
export function stepPage({ translations, formActions, languageLinks }: Step, problems: readonly FormProblem[]) {
  return { translations, formActions, languageLinks, isRejected: problems.length > 0 };
}

/** The same error whether there is no such registration or it belongs to another browser. */
export function notFound({ urls }: RegistrationDeps): LatchkeyError {
  return new LatchkeyError('registration_not_found', { restartPath: urls.register() });
}

export function expired({ urls }: RegistrationDeps, action: Registration['action']): LatchkeyError {
  return new LatchkeyError('registration_expired', { restartPath: urls.register(action) });
}

/**
 * Lists the registrations that were started in this browser (browser-flows 2.1). They can be continued
 * only here, so that nobody is signed in to an account that somebody else prepared (security S-59).
 */
const REGISTRATIONS_COOKIE: Cookie = { name: 'registrations' };
const MAX_REGISTRATIONS = 8;

/**
 * Adds a registration that was started here; expired ones are dropped, and the oldest beyond eight.
 * @param now milliseconds since the epoch
 */
export function bindRegistration(
  context: Pick<RequestContext, 'cookies'>,
  id: RegistrationId,
  ttlSeconds: number,
  now: number,
): void {
  const others = boundRegistrations(context).filter((other) => now - timeOfId(other) < ttlSeconds * 1000);
  context.cookies.set(REGISTRATIONS_COOKIE, [id, ...others].slice(0, MAX_REGISTRATIONS));
}

/** The registration that the address names, if it was started in this browser. */
export function boundRegistration(
  context: Pick<RequestContext, 'cookies'>,
  idText: string | undefined,
): RegistrationId | undefined {
  const id = parseId<'registration'>(idText ?? '');
  return id !== undefined && boundRegistrations(context).includes(id) ? id : undefined;
}

function boundRegistrations(context: Pick<RequestContext, 'cookies'>): RegistrationId[] {
  const value = context.cookies.open(REGISTRATIONS_COOKIE);
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const id = typeof entry === 'string' ? parseId<'registration'>(entry) : undefined;
    return id === undefined ? [] : [id];
  });
}
