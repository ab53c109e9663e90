import type { Browser, PageDeps } from '#browser/browser.ts';
import { foldUsername } from '#domain/accounts/account-names.ts';
import type { FinishDeps } from '#domain/accounts/registrations/finish-registration.ts';
import { RequesterPolicy } from '#domain/accounts/registrations/registration-policy.ts';
import type { RegistrationDeps as StartDeps } from '#domain/accounts/registrations/start-registration.ts';
import type { Core } from '#domain/core.ts';

/** Core and browser, with what the operations of a registration go by. */
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
