import type { Urls } from '#base/urls.ts';
import type { DestinationDeps } from '#domain/authorization-grants/destination.ts';
import type { RegistrationDeps as StartDeps } from '#domain/registrations/start-registration.ts';
import type { Csrf } from '#http/csrf.ts';
import type { Pages } from '#http/pages.ts';
import type { Viewers } from '#http/viewer.ts';

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
