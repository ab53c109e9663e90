import { type ClientMetadata, sealSecret } from '#domain/clients/client.ts';
import { fromUuid, timeOfId } from '#platform/base/ids.ts';
import { MANDATORY_ALGORITHM } from '#protocol/jose/signing-algorithms.ts';
import {
  CLIENT_AUTH_METHODS,
  DEVICE_CODE_GRANT_TYPE,
  RESPONSE_TYPES,
  usesSecret,
} from '#protocol/oauth/client-metadata.ts';
import { openMasSecret } from './encrypted-secrets.ts';
import type { MasImport, MasStep } from './mas-import.ts';

export interface SourceClient {
  readonly id: string;
  readonly encrypted_client_secret: string | null;
  readonly redirect_uris: readonly string[];
  readonly application_type: string | null;
  readonly grant_type_authorization_code: boolean;
  readonly grant_type_refresh_token: boolean;
  readonly grant_type_client_credentials: boolean;
  readonly grant_type_device_code: boolean;
  readonly client_name: string | null;
  readonly logo_uri: string | null;
  readonly client_uri: string | null;
  readonly policy_uri: string | null;
  readonly tos_uri: string | null;
  readonly jwks: unknown;
  readonly jwks_uri: string | null;
  readonly id_token_signed_response_alg: string | null;
  readonly userinfo_signed_response_alg: string | null;
  readonly token_endpoint_auth_method: string | null;
  readonly token_endpoint_auth_signing_alg: string | null;
  readonly created_at: Date | null;
  readonly is_static: boolean;
}

export const SOURCE_CLIENTS = `select oauth2_client_id as id, encrypted_client_secret, redirect_uris, application_type,
    grant_type_authorization_code, grant_type_refresh_token, grant_type_client_credentials, grant_type_device_code,
    client_name, logo_uri, client_uri, policy_uri, tos_uri, jwks, jwks_uri, id_token_signed_response_alg,
    userinfo_signed_response_alg, token_endpoint_auth_method, token_endpoint_auth_signing_alg, created_at, is_static
  from oauth2_clients`;

/**
 * Imports clients. Those of the configuration have been synced before and are kept as configured. Secrets are sealed
 * again with a key of this server. The import counts as a use: browsers keep client IDs for years, and MAS never
 * deletes a client that is not used.
 */
export const clientsStep: MasStep = {
  entity: 'clients',
  tables: ['oauth2_clients'],
  run: async (context) => {
    const { source, target, now } = context;
    let [done, unreadable, known] = [0, 0, 0];
    for await (const rows of source.batches<SourceClient>(SOURCE_CLIENTS)) {
      const clients = rows.flatMap((row) => clientOf(row, context) ?? []);
      const added = await target.execute(
        `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at, last_used_at)
         select b.id, b.is_static, b.secret, b.metadata, b.created_at, $6::timestamptz
           from unnest($1::uuid[], $2::boolean[], $3::bytea[], $4::jsonb[], $5::timestamptz[])
             as b (id, is_static, secret, metadata, created_at)
         on conflict (id) do nothing`,
        [
          clients.map(({ id }) => id),
          clients.map(({ isStatic }) => isStatic),
          clients.map(({ secret }) => secret),
          clients.map(({ metadata }) => JSON.stringify(metadata)),
          clients.map(({ createdAt }) => createdAt),
          now,
        ],
      );
      done += added;
      unreadable += rows.length - clients.length;
      known += clients.length - added;
    }
    await target.query('analyze oauth2_clients');
    return { done, skipped: { 'unreadable secret': unreadable, duplicate: known } };
  },
};

interface NewClient {
  readonly id: string;
  readonly isStatic: boolean;
  readonly secret: Buffer | null;
  readonly metadata: ClientMetadata;
  readonly createdAt: Date;
}

/** @returns undefined if its secret cannot be read */
function clientOf(row: SourceClient, { encryptionKey, keyRing }: MasImport): NewClient | undefined {
  const metadata = metadataOf(row);
  const method = CLIENT_AUTH_METHODS.find((known) => known === metadata.token_endpoint_auth_method) ?? 'none';
  const needsSecret = usesSecret(method);
  const secret =
    row.encrypted_client_secret === null ? undefined : openMasSecret(row.encrypted_client_secret, encryptionKey);
  if (needsSecret && secret === undefined) return undefined;
  return {
    id: row.id,
    isStatic: row.is_static,
    secret: needsSecret && secret !== undefined ? sealSecret(row.id, secret, keyRing) : null,
    metadata,
    createdAt: row.created_at ?? new Date(timeOfId(fromUuid(row.id))),
  };
}

/** The metadata in the form of a registration here. MAS stores texts without a language tag only. */
function metadataOf(row: SourceClient): ClientMetadata {
  // MAS refuses clients without a method at the token endpoint.
  const hasMethod = CLIENT_AUTH_METHODS.some((known) => known === row.token_endpoint_auth_method);
  const grants = [
    ...(row.grant_type_authorization_code ? ['authorization_code'] : []),
    ...(row.grant_type_refresh_token ? ['refresh_token'] : []),
    ...(row.grant_type_client_credentials ? ['client_credentials'] : []),
    ...(row.grant_type_device_code ? [DEVICE_CODE_GRANT_TYPE] : []),
  ];
  const type = row.application_type;
  return {
    ...((type === 'web' || type === 'native') && { application_type: type }),
    token_endpoint_auth_method: hasMethod ? (row.token_endpoint_auth_method ?? 'none') : 'none',
    ...(row.token_endpoint_auth_signing_alg !== null && {
      token_endpoint_auth_signing_alg: row.token_endpoint_auth_signing_alg,
    }),
    redirect_uris: row.redirect_uris,
    imported_from: 'mas',
    grant_types: hasMethod ? grants : [],
    response_types: hasMethod && row.grant_type_authorization_code ? RESPONSE_TYPES : [],
    subject_type: 'public',
    id_token_signed_response_alg: row.id_token_signed_response_alg ?? MANDATORY_ALGORITHM,
    ...(row.userinfo_signed_response_alg !== null && {
      userinfo_signed_response_alg: row.userinfo_signed_response_alg,
    }),
    ...keysOf(row),
    ...localized('client_name', row.client_name),
    ...localized('client_uri', row.client_uri),
    ...localized('logo_uri', row.logo_uri),
    ...localized('policy_uri', row.policy_uri),
    ...localized('tos_uri', row.tos_uri),
  };
}

function keysOf({ jwks, jwks_uri: uri }: SourceClient): Pick<ClientMetadata, 'jwks' | 'jwks_uri'> {
  if (uri !== null) return { jwks_uri: uri };
  if (typeof jwks !== 'object' || jwks === null || !('keys' in jwks) || !Array.isArray(jwks.keys)) return {};
  return { jwks: { keys: jwks.keys } };
}

function localized(name: string, text: string | null): object {
  return text === null ? {} : { [name]: { '': text } };
}
