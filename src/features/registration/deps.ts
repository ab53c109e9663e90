import type { Csrf } from '#browser/csrf.ts';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import type { Viewers } from '#browser/viewer.ts';
import type { RegistrationDeps as StartDeps } from '#domain/accounts/registrations/start-registration.ts';
import type { DestinationDeps } from '#domain/authorizations/destination.ts';

export interface RegistrationDeps extends Omit<DestinationDeps, 'database'>, StartDeps {
  readonly urls: Urls;
  readonly pages: Pages;
  readonly csrf: Csrf;
  readonly viewers: Viewers;
  readonly protocolName: string;
  /** People may make accounts for themselves with a password. */
  readonly isOpen: boolean;
  /** Seconds that a person has for all steps. */
  readonly ttlSeconds: number;
}
