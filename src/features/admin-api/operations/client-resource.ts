import { z } from 'zod';
import {
  type ClientDetailsRecord,
  type ClientRecord,
  clientDetails,
  MAX_COUNTED_SESSIONS,
  MAX_LISTED_SESSIONS,
} from '#domain/administration/client-listing.ts';
import { ACCESS, accessOf } from '#domain/clients/allowed-groups.ts';
import { clientIdentifier } from '#domain/clients/client-names.ts';
import { propertiesOf } from '#domain/clients/client-properties.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type Resource, time, timeOrNull } from '../definition/documents.ts';
import { clientKind } from '../definition/fields.ts';
import { stored } from '../definition/operation.ts';

const attributes = z.object({
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
  kind: clientKind().describe(
    'Who set the client up: the operator in the configuration (`static`), an administrator (`managed`), the client ' +
      'itself (`dynamic`), or the service (`builtin`).',
  ),
  is_static: z
    .boolean()
    .describe('Whether the client is defined in the configuration instead of dynamically registered.'),
  preset: z.string().nullable().describe('Preset that a managed client was created from; null: none.'),
  access: z
    .enum(ACCESS)
    .describe(
      'Who may use the client: `everyone`, members of `allowed_groups` (`groups`), or `nobody`, because all of its ' +
        'groups were deleted.',
    ),
  allowed_groups: z.array(z.string()).describe('Names of the groups whose members may use it.'),
  created_at: z.iso.datetime().describe('When it registered, was created, or was first seen in the configuration.'),
  updated_at: z.iso.datetime().nullable().describe('When an administrator last changed it; null: never.'),
  disabled_at: z.iso.datetime().nullable().describe('When it was disabled; null: it is enabled.'),
  last_used_at: z.iso.datetime().nullable().describe('When it was last used; null: never, or unknown.'),
  active_sessions: z
    .int()
    .describe(
      `Number of active sessions, counted up to ${MAX_LISTED_SESSIONS} in lists and else to ${MAX_COUNTED_SESSIONS}.`,
    ),
});

function attributesOf(client: ClientRecord) {
  return {
    client_id: clientIdentifier(fromUuid(client.id), client.document_url),
    client_name: client.client_name,
    client_uri: client.client_uri,
    logo_uri: client.logo_uri,
    redirect_uris: client.redirect_uris,
    grant_types: client.grant_types,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    kind: client.kind,
    is_static: client.is_static,
    preset: client.preset,
    access: accessOf(client),
    allowed_groups: client.allowed_groups,
    created_at: time(client.created_at),
    updated_at: timeOrNull(client.updated_at),
    disabled_at: timeOrNull(client.disabled_at),
    last_used_at: timeOrNull(client.last_used_at),
    active_sessions: client.active_sessions,
  };
}

/** A client in lists. */
export const CLIENT: Resource<ClientRecord> = {
  type: 'oauth2-client',
  path: 'oauth2-clients',
  description: 'OAuth 2.0 client.',
  attributes,
  attributesOf,
};

const secret = z
  .object({
    current: z.boolean().describe('False for the secret before the last rotation.'),
    created_at: z.iso.datetime().nullable().describe('When it was generated; null: unknown.'),
    last_used_at: z.iso.datetime().nullable().describe('When it was last used, up to a minute late; null: never.'),
    expires_at: z.iso.datetime().nullable().describe('When it stops working; null: not before it is replaced.'),
  })
  .describe('A secret, without its value.');

/** A client with all of its properties. Their names are those of `clients` in the configuration. */
export const CLIENT_DETAILS: Resource<ClientDetailsRecord> = {
  type: CLIENT.type,
  path: CLIENT.path,
  description: 'OAuth 2.0 client with its properties, which have the same names as in the configuration.',
  attributes: attributes
    .extend({
      overridden: z
        .array(z.enum(['client_name', 'logo_uri']))
        .describe('Members of a dynamic client whose value an administrator has set.'),
      secrets: z.array(secret).describe('Secrets of a managed client, without their values.'),
    })
    .catchall(z.unknown()),
  attributesOf: (client, { clock }) => ({
    ...propertiesOf(client.metadata),
    ...attributesOf(client),
    overridden: Object.keys(client.overrides ?? {}).sort(),
    secrets: secretsOf(client, clock.now()),
  }),
  versionOf: ({ version }) => version,
};

export const CLIENT_SOURCE = stored(clientDetails);

function secretsOf(client: ClientDetailsRecord, now: number) {
  if (client.kind !== 'managed' || !client.has_secret) return [];
  const current = {
    current: true,
    created_at: timeOrNull(client.secret_created_at),
    last_used_at: timeOrNull(client.secret_last_used_at),
    expires_at: null,
  };
  const expiry = client.former_secret_expires_at;
  if (expiry === null || expiry <= now) return [current];
  const former = {
    current: false,
    created_at: timeOrNull(client.former_secret_created_at),
    last_used_at: timeOrNull(client.former_secret_last_used_at),
    expires_at: time(expiry),
  };
  return [current, former];
}
