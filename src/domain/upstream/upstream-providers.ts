/**
 * Signing in through other services, tables `upstream_providers`, `upstream_links` and `upstream_authorizations`.
 *
 * Providers come from the configuration, which is what is used of them; their rows exist for the rows that refer to
 * them and for the metadata that instances share. A link says which account a subject of a provider belongs to. An
 * authorization is one attempt to sign in: pending, received (an answer came), completed (the answer was good and led
 * to a link), consumed (a browser session came of it).
 */
import type { Config } from '#config/config.ts';
import type { UpstreamProviderConfig } from '#config/sections/upstream-oauth2.ts';
import { parseId } from '#platform/base/ids.ts';

export type UpstreamProvider = UpstreamProviderConfig;

/** The providers that people may use. */
export class UpstreamProviders {
  /** In the order in which they are shown. */
  readonly enabled: readonly UpstreamProvider[];
  /** Some want to know what the application asked with that a person comes from. */
  readonly areToldOfRequests: boolean;

  /** The only one. */
  readonly only: UpstreamProvider | undefined;

  constructor({ providers }: Config['upstreamOauth2']) {
    this.enabled = providers.filter(({ isEnabled }) => isEnabled);
    this.only = this.enabled.length === 1 ? this.enabled[0] : undefined;
    this.areToldOfRequests = this.enabled.some(isToldOfRequests);
  }

  /** The one that an address names; undefined also when it is switched off. */
  find(idText: string | undefined): UpstreamProvider | undefined {
    const id = parseId<'upstream-provider'>(idText ?? '');
    return id === undefined ? undefined : this.enabled.find((provider) => provider.id === id);
  }

  /** The one that a chat client proposes, which may know it by the name that a Synapse had for it. */
  findProposed(name: string | undefined): UpstreamProvider | undefined {
    if (name === undefined) return undefined;
    return this.find(name) ?? this.enabled.find(({ synapseIdpId }) => synapseIdpId === name);
  }
}

/** Its additional parameters are made of what an application asked with. */
export function isToldOfRequests({ additionalParameters }: UpstreamProvider): boolean {
  return additionalParameters.some(({ template }) => template.reads.has('params'));
}

/** How well-known services write themselves. */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ['apple', 'Apple'],
  ['discord', 'Discord'],
  ['facebook', 'Facebook'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['google', 'Google'],
  ['keycloak', 'Keycloak'],
  ['linkedin', 'LinkedIn'],
  ['microsoft', 'Microsoft'],
  ['twitter', 'X'],
]);

/** What people call it. */
export function providerName({ humanName, brandName = '', issuer, id }: UpstreamProvider): string {
  return humanName ?? BRANDS.get(brandName) ?? issuer?.replace(/^https?:\/\//i, '').replace(/\/$/, '') ?? id;
}

/** What an account there is called, for the person whose it is. */
export function accountThere(provider: UpstreamProvider, accountName: string | undefined): string {
  const name = providerName(provider);
  return accountName === undefined ? name : `${name} (${accountName})`;
}

export function asksForIdToken({ scope }: UpstreamProvider): boolean {
  return scope.split(' ').includes('openid');
}
