import type { Browser, PageDeps } from '#browser/browser.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import type { LanguageLink } from '#browser/components/language-menu.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { boundRegistration } from '#browser/registrations-cookie.ts';
import { emailPolicyOf } from '#domain/accounts/email-authentications/email-policy.ts';
import type { FinishDeps } from '#domain/accounts/registrations/finish-registration.ts';
import { findRegistration, type Registration, registrationState } from '#domain/accounts/registrations/registration.ts';
import { namePolicyOf } from '#domain/accounts/registrations/registration-policy.ts';
import type { RegistrationDeps as StartDeps } from '#domain/accounts/registrations/start-registration.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import type { Core } from '#domain/core.ts';
import { RegistrationProofs } from '#domain/upstream/registration-proofs.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type Responded, redirect, responseFor } from '#platform/http/response.ts';

/** Core and browser, and the settings of the registration operations. */
export type RegistrationDeps = PageDeps &
  StartDeps &
  FinishDeps & {
    /** Lifetime of an emailed code. */
    readonly codeTtlSeconds: number;
  };

export function registrationDeps(core: Core, browser: Browser): RegistrationDeps {
  const { account, branding, email, protocolName, rateLimiting } = core.config;
  return {
    ...core,
    ...browser,
    limits: rateLimiting,
    namePolicy: namePolicyOf(core),
    serviceName: branding.serviceName,
    tosUri: branding.tosUri,
    protocolName,
    ttlSeconds: account.registrationTtlSeconds,
    codeTtlSeconds: email.codeTtlSeconds,
    sendsMail: core.config.email.transport.kind !== 'blackhole',
    isEmailRequired: core.registrationMethods.password.isEmailRequired,
    emailPolicy: emailPolicyOf(core),
    upstreamProofs: new RegistrationProofs({ keyRing: core.keyRing, providers: core.upstream.providers }),
  };
}

/** An open registration in the browser that started it, and what every step's page needs. */
export interface Step {
  readonly ok: true;
  readonly registration: Registration;
  readonly translations: Translations;
  /** Redirect targets of an accepted form. Browsers check them against `form-action`. */
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
  name: 'token' | 'verify-email' | 'display-name' | 'username',
): Promise<Step | Responded> {
  // Sets a signed-in user as the requester. The user may still register another account.
  await deps.viewers.read(context);
  const id = boundRegistration(context, context.params['id']);
  const registration = id === undefined ? undefined : await findRegistration(deps.database, id, deps.protocolName);
  if (registration === undefined) throw notFound(deps);
  const { action } = registration;
  const state = registrationState(registration, deps.ttlSeconds, deps.clock.now());
  if (state === 'completed') return responseFor(redirect(deps.urls.afterAuthentication(action)));
  if (state === 'expired') throw expired(deps, action);
  const destination = await findDestination(deps, action);
  const { pages, urls } = deps;
  return {
    ok: true,
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

/** The same error whether the registration does not exist or belongs to another browser. */
export function notFound({ urls }: RegistrationDeps): LatchkeyError {
  return new LatchkeyError('registration_not_found', { restartPath: urls.register() });
}

export function expired({ urls }: RegistrationDeps, action: Registration['action']): LatchkeyError {
  return new LatchkeyError('registration_expired', { restartPath: urls.register(action) });
}
