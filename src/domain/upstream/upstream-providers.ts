/**
 * Sign-in through upstream providers, tables `upstream_providers`, `upstream_links` and `upstream_authorizations`.
 *
 * Providers come from the configuration, which is authoritative. Their rows exist for rows that refer to them, and for
 * metadata shared by instances. A link assigns a subject of a provider to an account. An authorization is one attempt
 * to sign in: pending, received (a response arrived), completed (the response was valid and led to a link), consumed
 * (it led to a browser session).
 */
import type { Config } from '#config/config.ts';
import type { UpstreamProviderConfig } from '#config/sections/upstream-oauth2.ts';
import { parseId } from '#platform/base/ids.ts';

export type UpstreamProvider = UpstreamProviderConfig;

/** The enabled providers. */
export class UpstreamProviders {
  /** In display order. */
  readonly enabled: readonly UpstreamProvider[];
  /** At least one provider receives parameters of the application's request. */
  readonly anyReceivesRequests: boolean;

  /** The provider, if there is exactly one. */
  readonly only: UpstreamProvider | undefined;

  constructor({ providers }: Config['upstreamOauth2']) {
    this.enabled = providers.filter(({ isEnabled }) => isEnabled);
    this.only = this.enabled.length === 1 ? this.enabled[0] : undefined;
    this.anyReceivesRequests = this.enabled.some(receivesRequests);
  }

  /** Returns the provider with this ID from a URL; undefined if it is unknown or disabled. */
  find(idText: string | undefined): UpstreamProvider | undefined {
    const id = parseId<'upstream-provider'>(idText ?? '');
    return id === undefined ? undefined : this.enabled.find((provider) => provider.id === id);
  }

  /** Returns the provider that a chat client proposes, by ID or by its name in Synapse. */
  findProposed(name: string | undefined): UpstreamProvider | undefined {
    if (name === undefined) return undefined;
    return this.find(name) ?? this.enabled.find(({ synapseIdpId }) => synapseIdpId === name);
  }
}

/** Returns whether its additional parameters use the application's request. */
export function receivesRequests({ additionalParameters }: UpstreamProvider): boolean {
  return additionalParameters.some(({ template }) => template.reads.has('params'));
}

/** Returns the display name of an account at a provider, for its user. */
export function providerAccountLabel(provider: UpstreamProvider, accountName: string | undefined): string {
  return accountName === undefined ? provider.name : `${provider.name} (${accountName})`;
}

export function asksForIdToken({ scope }: UpstreamProvider): boolean {
  return scope.split(' ').includes('openid');
}
