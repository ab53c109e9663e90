import type { FormProblem } from '#browser/form-problems.ts';
import type { LanguageLink } from '#browser/layout.tsx';
import type { Translations } from '#browser/translations.ts';
import { findRegistration, type Registration, registrationState } from '#domain/accounts/registrations/registration.ts';
import { findDestination } from '#domain/authorizations/destination.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { RegistrationDeps } from './deps.ts';
import { boundRegistration } from './registrations-cookie.ts';

/** An open registration in the browser that began it, and what every page of a step needs. */
export interface Step {
  readonly registration: Registration;
  readonly translations: Translations;
  /** Where an accepted form leads by redirects, which browsers hold `form-action` against. */
  readonly formActions: readonly string[];
  readonly languageLinks: readonly LanguageLink[];
}

/**
 * The checks that all steps begin with (browser-flows 5.8). A completed registration leads on to its target. Throws
 * `registration_not_found` and `registration_expired`.
 */
export async function openStep(
  deps: RegistrationDeps,
  context: RequestContext,
  name: 'display-name' | 'username',
): Promise<Step | HttpResponse> {
  // Attributes the request to somebody who is signed in; they register another account all the same.
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
    formActions: destination === undefined ? [] : [destination.redirectUri],
    languageLinks:
      destination?.uiLocales === undefined
        ? pages.languageLinks((language) => `${urls.registrationStep(registration.id, name)}?ui_locales=${language}`)
        : [],
  };
}

/** What the pages of all steps have in common. */
export function stepPage({ translations, formActions, languageLinks }: Step, problems: readonly FormProblem[]) {
  return { translations, formActions, languageLinks, isRejected: problems.length > 0 };
}

/** One and the same answer whether there is no such registration or it belongs to another browser. */
export function notFound({ urls }: RegistrationDeps): LatchkeyError {
  return new LatchkeyError('registration_not_found', { restartPath: urls.register() });
}

export function expired({ urls }: RegistrationDeps, action: Registration['action']): LatchkeyError {
  return new LatchkeyError('registration_expired', { restartPath: urls.register(action) });
}
