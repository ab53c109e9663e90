/**
 * An identity at another service that an account gets by its name when the login is completed, column
 * `link_on_completion`: nobody is given a way into the account who has not proven the second factor of its owner.
 */
import { fromUuid, toUuid, type UpstreamLinkId, type UpstreamProviderId } from '#platform/base/ids.ts';

export interface PendingLink {
  readonly linkId: UpstreamLinkId;
  readonly providerId: UpstreamProviderId;
  /** What people call it. */
  readonly providerName: string;
  /** What is to happen with other identities of the account at the provider, as the operator wanted it. */
  readonly onConflict: string;
}

export type PendingLinkRow = Readonly<Record<'link' | 'provider' | 'provider_name' | 'on_conflict', string>>;

export function toPendingLinkRow({ linkId, providerId, providerName, onConflict }: PendingLink): PendingLinkRow {
  return {
    link: toUuid(linkId),
    provider: toUuid(providerId),
    provider_name: providerName,
    on_conflict: onConflict,
  };
}

export function toPendingLink(row: PendingLinkRow): PendingLink {
  return {
    linkId: fromUuid<'upstream-link'>(row.link),
    providerId: fromUuid<'upstream-provider'>(row.provider),
    providerName: row.provider_name,
    onConflict: row.on_conflict,
  };
}
