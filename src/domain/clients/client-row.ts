import { fromUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import { CLIENT_AUTH_METHODS, type Client, type ClientAuthMethod } from './client.ts';

/** A value in several languages by language tag, the untagged one under `""`. */
export type Localised = Readonly<Record<string, string>>;

/** The `metadata` column: names of RFC 7591 2, what is not set left out. */
export interface ClientMetadata {
  readonly token_endpoint_auth_method: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly id_token_signed_response_alg: string;
  readonly client_name?: Localised;
  readonly client_uri?: Localised;
  readonly policy_uri?: Localised;
  readonly tos_uri?: Localised;
  /** Space-separated. */
  readonly scope?: string;
  readonly default_max_age?: number;
  readonly require_auth_time?: boolean;
  /** Ours: the consent page may be skipped. */
  readonly first_party?: boolean;
  /** Ours: claims of the scopes in ID tokens; true when it is not set. */
  readonly id_token_claims?: boolean;
  /** Ours: no other way to send the secret than the registered one. */
  readonly strict_auth_method?: boolean;
}

export interface ClientRow {
  readonly id: string;
  readonly is_static: boolean;
  readonly version: number;
  readonly client_secret_sealed: Buffer | null;
  readonly metadata: ClientMetadata;
}

/**
 * The client of a row.
 * @throws Error when its secret cannot be opened: the operator lost or changed the encryption key
 */
export function clientOfRow(row: ClientRow, keys: KeyRing): Client {
  const { metadata } = row;
  return {
    id: fromUuid(row.id),
    version: row.version,
    isStatic: row.is_static,
    authMethod: authMethod(metadata.token_endpoint_auth_method),
    secret: row.client_secret_sealed === null ? undefined : openSecret(row.id, row.client_secret_sealed, keys),
    redirectUris: metadata.redirect_uris,
    grantTypes: metadata.grant_types,
    scope: metadata.scope?.split(' '),
    name: metadata.client_name ?? {},
    clientUri: metadata.client_uri?.[''],
    policyUri: metadata.policy_uri?.[''],
    tosUri: metadata.tos_uri?.[''],
    isFirstParty: metadata.first_party ?? false,
    defaultMaxAge: metadata.default_max_age,
    requiresAuthTime: metadata.require_auth_time ?? false,
    hasIdTokenClaims: metadata.id_token_claims ?? true,
    hasStrictAuthMethod: metadata.strict_auth_method ?? false,
    idTokenSignedResponseAlg: metadata.id_token_signed_response_alg,
  };
}

export function sealSecret(uuid: string, secret: string, keys: KeyRing): Buffer {
  return keys.seal('column', secret, associatedData(uuid));
}

export function openSecret(uuid: string, sealed: Buffer, keys: KeyRing): Secret {
  const opened = keys.open('column', sealed, associatedData(uuid));
  if (opened === undefined) {
    throw new Error(`the stored secret of client ${fromUuid(uuid)} cannot be opened with secrets.encryption`);
  }
  return new Secret(opened.toString());
}

function associatedData(uuid: string): string {
  return `oauth2_clients|client_secret|${fromUuid(uuid)}`;
}

function authMethod(text: string): ClientAuthMethod {
  const method = CLIENT_AUTH_METHODS.find((known) => known === text);
  if (method === undefined) throw new Error(`a client is stored with an unknown authentication method: ${text}`);
  return method;
}
