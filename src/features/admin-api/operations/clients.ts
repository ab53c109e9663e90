/** Clients (operations 4.9). Secrets are never shown. */
import { z } from 'zod';
import { clients } from '#domain/administration/client-listing.ts';
import { deleteClientForOperator } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { containing } from '#platform/postgres/like.ts';
import { clientKind, filter, flag, text } from '../definition/fields.ts';
import {
  actionOperation,
  change,
  getOperation,
  listOperation,
  type Operation,
  stored,
} from '../definition/operation.ts';
import { clientRefusal } from './client-changes.ts';
import { CLIENT, CLIENT_DETAILS, CLIENT_SOURCE } from './client-resource.ts';

export const clientOperations: readonly Operation[] = [
  listOperation({
    id: 'listOAuth2Clients',
    summary: 'Lists clients',
    description:
      'Clients of all kinds, ordered by ID, including disabled ones. Clients that are part of the service are listed ' +
      'only with `filter[client-kind]=builtin`.',
    resource: CLIENT,
    source: stored(clients),
    filters: z.object({
      'client-kind': filter(
        clientKind(),
        'Clients that are configured (`static`), created by administrators (`managed`), dynamically registered ' +
          '(`dynamic`), or part of the service (`builtin`).',
      ),
      disabled: filter(flag(), 'Clients that are (`true`) or are not (`false`) disabled.'),
      search: filter(
        text(255),
        'Clients whose name, home page URL or a redirect URI contains this text (case-insensitive): 1 to 255 ' +
          'characters.',
        'harbour',
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
      kind: values['client-kind'] ?? 'listed',
      isDisabled: values.disabled,
      search: values.search && containing(values.search),
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
      'Returns a client by its ID, which is its `client_id` unless it publishes a metadata document. The secret is never ' +
      'returned. The header `ETag` is for `If-Match` in `updateOAuth2Client`.',
    resource: CLIENT_DETAILS,
    source: CLIENT_SOURCE,
  }),
  actionOperation({
    id: 'deleteOAuth2Client',
    method: 'DELETE',
    summary: 'Deletes a client with its sessions and tokens',
    description: 'Configured clients cannot be deleted here: remove them from `clients`.',
    resource: CLIENT_DETAILS,
    source: CLIENT_SOURCE,
    errors: ['client_is_static', 'client_is_builtin'],
    isSilent: true,
    run: async (call, { id }, action) => {
      const client = fromUuid<'client'>(id);
      await change(call, action, async (core) => {
        const outcome = await deleteClientForOperator({ ...core, ...clientSessionEnder(core.homeserver) }, client);
        if (outcome !== 'deleted') throw clientRefusal(outcome);
      });
      call.core.clients.forget(client);
    },
  }),
];
