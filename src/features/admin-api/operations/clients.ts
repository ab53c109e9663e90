/** Applications (operations 4.9). Never a secret. */
import { z } from 'zod';
import { type ClientRecord, clients } from '#domain/administration/client-listing.ts';
import { deleteDynamicClient } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { containing } from '#platform/postgres/like.ts';
import { type Resource, time, timeOrNull } from '../definition/documents.ts';
import { flag, text } from '../definition/fields.ts';
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
  attributes: z.object({
    client_id: z.string(),
    client_name: z.string().nullable(),
    client_uri: z.string().nullable(),
    logo_uri: z.string().nullable(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
    is_static: z.boolean(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
  }),
  attributesOf: ({ id, created_at, last_used_at, ...shown }) => ({
    client_id: fromUuid(id),
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
    ...SHARED,
    filters: z.object({
      'client-kind': z.enum(['dynamic', 'static'], 'dynamic or static').optional(),
      'client-name': text(255).optional(),
      'client-uri': text(255).optional(),
      'grant-type': text(255).optional(),
      'has-active-sessions': flag().optional(),
    }),
    select: (values) => ({
      isStatic: values['client-kind'] && values['client-kind'] === 'static',
      name: values['client-name'] && containing(values['client-name']),
      uri: values['client-uri'] && containing(values['client-uri']),
      grantType: values['grant-type'],
      hasSessions: values['has-active-sessions'],
    }),
  }),
  getOperation({ id: 'getOAuth2Client', summary: 'Reads an application', ...SHARED }),
  actionOperation({
    id: 'deleteOAuth2Client',
    method: 'DELETE',
    summary: 'Deletes an application that registered itself, with its sessions and tokens',
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
