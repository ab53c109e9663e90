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
  getOperation,
  listOperation,
  missing,
  type Operation,
  stored,
} from '../definition/operation.ts';

const CLIENT: Resource<ClientRecord> = {
  type: 'oauth2-client',
  path: 'oauth2-clients',
  description: 'An application that signs people in here.',
  attributes: z.object({
    client_id: z
      .string()
      .describe('What the application sends: the id once more, or the address of its metadata document.'),
    client_name: z.string().nullable().describe('What people see; null: it gave no name.'),
    client_uri: z.string().nullable().describe('Its home page.'),
    logo_uri: z.string().nullable().describe('Its picture.'),
    redirect_uris: z.array(z.string()).describe('Where people may be led back to.'),
    grant_types: z.array(z.string()).describe('The ways in which it may get tokens.'),
    token_endpoint_auth_method: z.string().describe('How it proves who it is; `none`: it has no secret.'),
    is_static: z.boolean().describe('Whether it is one of the configuration, and did not register itself.'),
    created_at: z.iso.datetime().describe('When it registered, or was first seen in the configuration.'),
    last_used_at: z.iso.datetime().nullable().describe('When it was last used; null: never, or that is not known.'),
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
    summary: 'Lists applications',
    description: 'Applications of the configuration and those that registered themselves, in the order of their ids.',
    ...SHARED,
    filters: z.object({
      'client-kind': filter(
        z.enum(['dynamic', 'static'], 'dynamic or static'),
        'Applications that registered themselves (`dynamic`), or that are in the configuration (`static`).',
      ),
      'client-name': filter(
        text(255),
        'Applications whose name contains this text, in upper or lower case: 1 to 255 characters.',
        'harbour',
      ),
      'client-uri': filter(
        text(255),
        'Applications whose home page has this text in its address, in upper or lower case: 1 to 255 characters.',
        'harbour',
      ),
      'grant-type': filter(
        text(255),
        'Applications that may use exactly this grant type, as the metadata spells it.',
        'client_credentials',
      ),
      'has-active-sessions': filter(flag(), 'Applications with (`true`) or without (`false`) live sessions.'),
    }),
    select: (values) => ({
      isStatic: values['client-kind'] && values['client-kind'] === 'static',
      name: values['client-name'] && containing(values['client-name']),
      uri: values['client-uri'] && containing(values['client-uri']),
      grantType: values['grant-type'],
      hasSessions: values['has-active-sessions'],
    }),
  }),
  getOperation({
    id: 'getOAuth2Client',
    summary: 'Reads an application',
    description:
      'One application by its id, which is its `client_id` unless it publishes a metadata document. Never its secret.',
    ...SHARED,
  }),
  actionOperation({
    id: 'deleteOAuth2Client',
    method: 'DELETE',
    summary: 'Deletes an application that registered itself, with its sessions and tokens',
    description: 'Applications of the configuration are not deleted here: take them out of `clients`.',
    ...SHARED,
    errors: ['client_is_static'],
    isSilent: true,
    run: async ({ core }, { id }) => {
      const client = fromUuid<'client'>(id);
      const outcome = await deleteDynamicClient({ ...core, ...clientSessionEnder(core.homeserver) }, client);
      if (outcome === 'static') throw new LatchkeyError('client_is_static');
      if (outcome === 'unknown') throw missing(CLIENT.type);
      core.clients.forget(client);
    },
  }),
];
