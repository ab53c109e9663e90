import type { Config } from '#config/config.ts';
import type {
  Registration,
  RegistrationMethod,
  RegistrationMethods,
} from '#domain/accounts/registrations/registration.ts';
import type { UpstreamProvider, UpstreamProviders } from './upstream-providers.ts';

const CLOSED: RegistrationMethod = { isOpen: false, isTokenRequired: false, isEmailRequired: false };

/** Registration methods available to users (browser-flows 5.1). */
export class ConfiguredRegistrationMethods implements RegistrationMethods {
  readonly password: RegistrationMethod;
  /** Providers that allow registration, in display order. */
  readonly providers: readonly UpstreamProvider[];

  constructor({ passwords, account }: Pick<Config, 'passwords' | 'account'>, providers: UpstreamProviders) {
    this.password = {
      isOpen: passwords.enabled && account.passwordRegistrationEnabled,
      isTokenRequired: account.passwordRegistrationTokenRequired,
      isEmailRequired: account.passwordRegistrationEmailRequired,
    };
    this.providers = providers.enabled.filter(({ isRegistrationEnabled }) => isRegistrationEnabled);
  }

  get isAnyOpen(): boolean {
    return this.password.isOpen || this.providers.length > 0;
  }

  of({ upstream }: Pick<Registration, 'upstream'>): RegistrationMethod {
    if (upstream === undefined) return this.password;
    const provider = this.providers.find(({ id }) => id === upstream.providerId);
    if (provider === undefined) return CLOSED;
    return { isOpen: true, isTokenRequired: provider.isRegistrationTokenRequired, isEmailRequired: false };
  }
}
