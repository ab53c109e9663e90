/** Clients (operations 4.9). Secrets are never shown. */
import { z } from 'zod';
import { type ClientRecord, clients } from '#domain/administration/client-listing.ts';
import { clientIdentifier } from '#domain/clients/client-names.ts';
import { deleteDynamicClient } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { containing } from '#platform/postgres/like.ts';
import { type Resource, time, timeOrNull } from '../definition/documents.ts';
import { filter, flag, text } from '../definition/fields.ts';
import {
  actionOperation,
  change,
  getOperation,
  listOperation,
  missing,
  type Operation,
  stored,
} from '../definition/operation.ts';

const CLIENT: Resource<ClientRecord> = {
  type: 'oauth2-client',
  path: 'oauth2-clients',
  description: 'OAuth 2.0 client.',
  attributes: z.object({
    client_id: z
      .string()
      .describe("Value of `client_id` in requests: the ID, or the URL of the client's metadata document."),
    client_name: z.string().nullable().describe('Name shown to users; null: not set.'),
    client_uri: z.string().nullable().describe('Home page.'),
    logo_uri: z.string().nullable().describe('Logo.'),
    redirect_uris: z.array(z.string()).describe('Allowed redirect URIs.'),
    grant_types: z.array(z.string()).describe('Grant types that the client may use.'),
    token_endpoint_auth_method: z
      .string()
      .describe('Authentication method at the token endpoint; `none`: public client.'),
    is_static: z
      .boolean()
      .describe('Whether the client is defined in the configuration instead of dynamically registered.'),
    created_at: z.iso.datetime().describe('When it registered, or was first seen in the configuration.'),
    last_used_at: z.iso.datetime().nullable().describe('When it was last used; null: never, or unknown.'),
  }),
  attributesOf: ({ id, document_url, created_at, last_used_at, ...shown }) => ({
    client_id: clientIdentifier(fromUuid(id), document_url),
    ...shown,
    created_at: time(created_at),
    last_used_at: timeOrNull(last_used_at),
  }),
};

const SHARED = { resource: CLIENT, source: stored(clients) };

export const clientOperations: readonly Operation[] = [
  listOperation({
    id: 'listOAuth2Clients',
    summary: 'Lists clients',
    description: 'Configured and dynamically registered clients, ordered by ID.',
    ...SHARED,
    filters: z.object({
      'client-kind': filter(
        z.enum(['dynamic', 'static', 'builtin'], 'must be dynamic, static or builtin'),
        'Clients that are dynamically registered (`dynamic`), configured (`static`) or part of the service ' +
          '(`builtin`). Without this filter, the list omits the last kind.',
      ),
      'client-name': filter(
        text(255),
        'Clients whose name contains this text (case-insensitive): 1 to 255 characters.',
        'harbour',
      ),
      'client-uri': filter(
        text(255),
        'Clients whose home page URL contains this text (case-insensitive): 1 to 255 characters.',
        'harbour',
      ),
      'grant-type': filter(
        text(255),
        'Clients that may use exactly this grant type, spelled as in the metadata.',
        'client_credentials',
      ),
      'has-active-sessions': filter(flag(), 'Clients with (`true`) or without (`false`) active sessions.'),
    }),
    select: (values) => ({
      isStatic: values['client-kind'] && values['client-kind'] === 'static',
      isBuiltin: values['client-kind'] === 'builtin',
      name: values['client-name'] && containing(values['client-name']),
      uri: values['client-uri'] && containing(values['client-uri']),
      grantType: values['grant-type'],
      hasSessions: values['has-active-sessions'],
    }),
  }),
  getOperation({
    id: 'getOAuth2Client',
    summary: 'Gets a client',
    description:
      'Returns a client by its ID, which is its `client_id` unless it publishes a metadata document. The ' +
      'secret is never returned.',
    ...SHARED,
  }),
  actionOperation({
    id: 'deleteOAuth2Client',
    method: 'DELETE',
    summary: 'Deletes a dynamically registered client with its sessions and tokens',
    description: 'Configured clients cannot be deleted here: remove them from `clients`.',
    ...SHARED,
    errors: ['client_is_static', 'client_is_builtin'],
    isSilent: true,
    run: async (call, { id }, action) => {
      const client = fromUuid<'client'>(id);
      await change(call, action, async (core) => {
        const outcome = await deleteDynamicClient({ ...core, ...clientSessionEnder(core.homeserver) }, client);
        if (outcome === 'static') throw new LatchkeyError('client_is_static');
        if (outcome === 'builtin') throw new LatchkeyError('client_is_builtin');
        if (outcome === 'unknown') throw missing(CLIENT.type);
      });
      call.core.clients.forget(client);
    },
  }),
];
