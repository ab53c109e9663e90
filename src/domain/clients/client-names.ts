/**
 * The `client_id` of clients: the ID that this service assigned, or the https URL of the metadata document that the
 * client publishes (OAuth Client ID Metadata Document). Internally, each client has an ID. For a published client it is
 * derived from the URL, which saves a lookup.
 */
import { fromUuid, parseId } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { clientIdUrlProblem, isClientIdUrl } from '#protocol/oauth/client-id-url.ts';
import type { ClientId } from '#vocabulary/ids.ts';

interface NamedClient {
  readonly id: ClientId;
  readonly document: { readonly url: string } | undefined;
}

const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/;

/** Returns the ID that a client with this `client_id` would have; undefined if it is malformed. */
export function namedClientId(name: string): ClientId | undefined {
  if (!isClientIdUrl(name)) return parseId(name);
  return clientIdUrlProblem(name) === undefined ? documentClientId(name) : undefined;
}

/** Uses the first 128 bits of a hash, so that finding a second URL for an existing ID is infeasible. */
export function documentClientId(url: string): ClientId {
  return fromUuid(sha256(`client-document ${url}`).toString('hex').replace(UUID_PARTS, '$1-$2-$3-$4-$5'));
}

/** Returns whether a text is the client's `client_id`. IDs are accepted in either case, URLs must match exactly. */
export function isNameOf(client: NamedClient, text: string): boolean {
  return client.document === undefined ? parseId<'client'>(text) === client.id : client.document.url === text;
}

/** @param documentUrl column of `oauth2_clients`; null: `client_id` is the ID */
export function clientIdentifier(id: ClientId, documentUrl: string | null): string {
  return documentUrl ?? id;
}
