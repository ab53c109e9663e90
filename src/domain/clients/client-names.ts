/**
 * How clients are named by others (`client_id`, `aud` and so on): by the id that this service gave them, or by the https
 * address of a document that they publish about themselves (OAuth Client ID Metadata Document). Inside, a client always
 * has an id. That of a published client is derived from its address, so that a name costs no look-up of its own.
 */
import { type ClientId, fromUuid, parseId } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { clientIdUrlProblem, isClientIdUrl } from '#protocol/oauth/client-id-url.ts';

interface NamedClient {
  readonly id: ClientId;
  readonly document: { readonly url: string } | undefined;
}

const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/;

/** The id of the client that has this name, if there is one; undefined when no client can have it. */
export function namedClientId(name: string): ClientId | undefined {
  if (!isClientIdUrl(name)) return parseId(name);
  return clientIdUrlProblem(name) === undefined ? documentClientId(name) : undefined;
}

/** The first 128 bits of a hash: nobody finds a second address for the id of a client. */
export function documentClientId(url: string): ClientId {
  return fromUuid(sha256(`client-document ${url}`).toString('hex').replace(UUID_PARTS, '$1-$2-$3-$4-$5'));
}

/** Whether a text is the `client_id` of a client: an id is good in either case, an address is compared as a text. */
export function isNameOf(client: NamedClient, text: string): boolean {
  return client.document === undefined ? parseId<'client'>(text) === client.id : client.document.url === text;
}

/** @param documentUrl column of `oauth2_clients`; null: the client is named by its id */
export function clientIdentifier(id: ClientId, documentUrl: string | null): string {
  return documentUrl ?? id;
}
