/**
 * An upstream identity that is linked to the account with the same name when the login completes, column
 * `link_on_completion`. Only a user who has proven the owner's second factor gets that access.
 */
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { UpstreamLinkId, UpstreamProviderId } from '#vocabulary/ids.ts';

export interface PendingLink {
  readonly linkId: UpstreamLinkId;
  readonly providerId: UpstreamProviderId;
  /** Display name of the provider. */
  readonly providerName: string;
  /** What to do about other identities of the account at the provider, as configured. */
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
