/**
 * OAuth clients: tables `oauth2_clients` and `oauth2_consents` (what users have granted a client, in `consents.ts`).
 *
 * A client is static (defined in the configuration, see `sync-static-clients.ts`), managed (created by an administrator,
 * see `managed/`) or dynamic, and current until it is disabled. Dynamic clients registered themselves
 * (`register-client.ts`) or publish their metadata (`store-client-document.ts`). Requests get clients from the cache in `ClientDirectory`. Statements that act for a
 * client compare the version of its row. Authorization requests, sessions and tokens belong to modules that import this
 * one.
 */
import { fromUuid } from '#platform/base/ids.ts';
import { randomBase64Url, randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import { ms } from '#platform/postgres/statement.ts';
import { MANDATORY_ALGORITHM, settledName } from '#protocol/jose/signing-algorithms.ts';
import {
  CLIENT_AUTH_METHODS,
  type ClientAuthMethod,
  TOKEN_EXCHANGE_GRANT_TYPE,
  usesSecret,
} from '#protocol/oauth/client-metadata.ts';
import type { ClientProfile } from '#protocol/oauth/fapi2.ts';
import type { Localized } from '#protocol/oauth/metadata-members.ts';
import type { ApplicationType } from '#protocol/oauth/registered-uris.ts';
import { type ExtraClaims, extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { clientIdentifier } from './client-names.ts';
import { sectorHost, sectorUri } from './subjects.ts';

/**
 * Who set up the client: the operator in the configuration, an administrator, the client itself, or, for the clients of
 * the service's own pages, the service.
 */
export type ClientKind = 'static' | 'managed' | 'dynamic' | 'builtin';

/** Why an administrator cannot change a client: only the configuration or the service itself can. */
export type ClientRefusal = 'unknown' | 'static' | 'builtin';

/** An OAuth client (application), as cached from its row. */
export interface Client {
  readonly id: ClientId;
  /** Its `client_id`: the ID, or the URL of its metadata document. */
  readonly identifier: string;
  /** Metadata published by the client; undefined: it is configured or registered. */
  readonly document: ClientDocument | undefined;
  /** Incremented by every change. Statements that rely on a cached client compare it. */
  readonly version: number;
  readonly kind: ClientKind;
  /** Set up by an operator or administrator, and therefore trusted and shown as verified. */
  readonly isVouchedFor: boolean;
  readonly authMethod: ClientAuthMethod;
  /** Algorithm of its client assertions; undefined: any that its method allows. */
  readonly assertionSigningAlg: string | undefined;
  /** Set for the methods that use a secret. */
  readonly secret: Secret | undefined;
  /** The secret before a rotation. */
  readonly formerSecret: FormerSecret | undefined;
  readonly redirectUris: readonly string[];
  /** Whether they are compared as parsed URLs, see `RedirectUriOwner`. */
  readonly hasParsedRedirectUris: boolean;
  /** Redirect targets after a sign-out that the client requested. */
  readonly postLogoutRedirectUris: readonly string[];
  /** Grant types that it may use: those of its metadata, and those that a right of its own allows. */
  readonly grantTypes: readonly string[];
  /** Scopes that it may request; undefined: unrestricted. */
  readonly scope: readonly string[] | undefined;
  /** Rights to exchange tokens; undefined: none. */
  readonly tokenExchange: TokenExchangeRights | undefined;
  /** Localized names by language tag; the untagged name has the key `""`. */
  readonly name: Readonly<Record<string, string>>;
  readonly clientUri: string | undefined;
  readonly logoUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
  /** Whether the consent page may be skipped. */
  readonly isFirstParty: boolean;
  /** In seconds; used if a request has no `max_age`. */
  readonly defaultMaxAge: number | undefined;
  readonly requiresAuthTime: boolean;
  /** Used if a request has no `acr_values`; preferred value first. */
  readonly defaultAcrValues: readonly string[];
  /** Whether its authorization requests must be pushed (RFC 9126). */
  readonly requiresPushedRequests: boolean;
  /** Whether its authorization requests must use request objects (RFC 9101). */
  readonly requiresSignedRequests: boolean;
  /** Algorithm of its request objects; undefined: any with a private key. */
  readonly requestObjectSigningAlg: string | undefined;
  /** Whether its ID tokens contain the claims of the scopes `profile`, `email` and `groups`, and `claims`. */
  readonly hasIdTokenClaims: boolean;
  /** Claims about every user who signs in to it. */
  readonly claims: ExtraClaims;
  /** Whether its secret is accepted only where `authMethod` says, in the header or the form. */
  readonly hasStrictAuthMethod: boolean;
  /** Host of its sector: the client gets pairwise subjects (see `Subjects`). Undefined: it gets account IDs. */
  readonly sector: string | undefined;
  /** Whether it accepts only key-bound access tokens (RFC 9449 5.2). */
  readonly hasBoundTokens: boolean;
  /**
   * Whether it must comply with FAPI 2.0. Requirements with standard metadata, like pushed requests, have separate
   * members.
   */
  readonly isFapi2: boolean;
  /** Algorithm of its ID tokens. */
  readonly idTokenSignedResponseAlg: string;
  /** Algorithm of authorization responses requested as a JWT (JARM). */
  readonly authorizationSignedResponseAlg: string;
  /** Algorithm of introspection responses requested as a JWT. */
  readonly introspectionSignedResponseAlg: string;
  /** Its public keys as a JSON Web Key Set, used by `ClientKeys`; undefined if it has no inline keys. */
  readonly jwks: unknown;
  /** URL of its published keys. */
  readonly jwksUri: string | undefined;
}

export interface FormerSecret {
  readonly secret: Secret;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Source of unregistered metadata (OAuth Client ID Metadata Document). */
export interface ClientDocument {
  readonly url: string;
  /** Milliseconds since the epoch. After that, the document is refetched before a new flow starts. */
  readonly freshUntil: number;
}

/**
 * Returns the client's name in a language, else the name without a language tag (RFC 7591 2.2). Returns it as
 * registered; pages sanitize it. Undefined if the client has no name.
 */
export function clientName(client: Client, language: string): string | undefined {
  const wanted = language.toLowerCase();
  const primary = wanted.split('-', 1)[0];
  const byTag = new Map(Object.entries(client.name).map(([tag, name]) => [tag.toLowerCase(), name]));
  return byTag.get(wanted) ?? (primary === undefined ? undefined : byTag.get(primary)) ?? byTag.get('');
}

/** What a client that is not dynamic may do with tokens issued to other clients (RFC 8693). */
export interface TokenExchangeRights {
  /** Clients whose access tokens it may exchange; `*`: any. */
  readonly subjects: readonly string[];
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** Whether its tokens omit it as the actor. */
  readonly impersonation: boolean;
}

/** The `metadata` column, with the names of RFC 7591 2. Unset values are omitted. */
export interface ClientMetadata {
  /** Unset for a static client without a configured type. */
  readonly application_type?: ApplicationType;
  readonly token_endpoint_auth_method: string;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  /** Read by SQL when sessions end. */
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: boolean;
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  /** Default: `public`. */
  readonly subject_type?: 'public' | 'pairwise';
  readonly sector_identifier_uri?: string;
  readonly id_token_signed_response_alg: string;
  /** If set, userinfo responses are JWTs. */
  readonly userinfo_signed_response_alg?: string;
  /** Default: RS256. */
  readonly introspection_signed_response_alg?: string;
  /** Default: RS256. */
  readonly authorization_signed_response_alg?: string;
  readonly jwks?: { readonly keys: readonly unknown[] };
  readonly jwks_uri?: string;
  readonly client_name?: Localized;
  readonly client_uri?: Localized;
  readonly logo_uri?: Localized;
  readonly policy_uri?: Localized;
  readonly tos_uri?: Localized;
  /** Space-separated. */
  readonly scope?: string;
  readonly default_max_age?: number;
  readonly require_auth_time?: boolean;
  readonly default_acr_values?: readonly string[];
  readonly require_pushed_authorization_requests?: boolean;
  readonly dpop_bound_access_tokens?: boolean;
  readonly require_signed_request_object?: boolean;
  readonly request_object_signing_alg?: string;
  /** Latchkey extension. */
  readonly profile?: ClientProfile;
  /** Latchkey extension, not for dynamic clients. */
  readonly token_exchange?: TokenExchangeRights;
  /** Latchkey extension: the consent page may be skipped. */
  readonly first_party?: boolean;
  /** Latchkey extension: include scope claims in ID tokens. Default: true. */
  readonly id_token_claims?: boolean;
  /** Latchkey extension, not for dynamic clients. */
  readonly claims?: ExtraClaims;
  /**
   * Latchkey extension: the client was imported from this server. Its redirect URIs keep the rules of that server, and it
   * is not deleted when it is not used.
   */
  readonly imported_from?: 'mas';
  /** Latchkey extension: accept the secret only by the registered method. */
  readonly strict_auth_method?: boolean;
}

/**
 * The `overrides` column: what an administrator shows users about a dynamic client instead of its metadata, which the
 * client may replace at any time.
 */
export interface ClientOverrides {
  readonly client_name?: string;
  readonly logo_uri?: string;
}

export interface ClientRow {
  readonly id: string;
  readonly is_static: boolean;
  /** Null: static or dynamic. */
  readonly kind: 'managed' | 'builtin' | null;
  readonly version: number;
  readonly client_secret_sealed: Buffer | null;
  /** Null, like the next: the secret was not rotated. */
  readonly former_secret_sealed: Buffer | null;
  readonly former_secret_expires_at: number | null;
  readonly metadata: ClientMetadata;
  readonly overrides: ClientOverrides | null;
  /** Null, like the next: the client has no metadata document. */
  readonly document_url: string | null;
  readonly document_fresh_until: number | null;
}

/** Returns the columns of a `ClientRow`. @param client alias of `oauth2_clients` */
export function clientColumns(client: string): string {
  const secrets = ['client_secret_sealed', 'former_secret_sealed'];
  const columns = ['id', 'is_static', 'kind', 'version', ...secrets, 'metadata', 'overrides', 'document_url'];
  const times = ['former_secret_expires_at', 'document_fresh_until'];
  return [
    ...columns.map((name) => `${client}.${name}`),
    ...times.map((name) => `${ms(`${client}.${name}`)} as ${name}`),
  ].join(', ');
}

/**
 * Builds the client from its row.
 * @throws Error if its secret cannot be decrypted because the operator lost or changed the encryption key
 */
export function clientOfRow(row: ClientRow, keys: KeyRing): Client {
  const { metadata, overrides } = row;
  const id = fromUuid<'client'>(row.id);
  const url = row.document_url;
  const kind = kindOf(row);
  const isVouchedFor = kind === 'static' || kind === 'managed';
  const tokenExchange = isVouchedFor ? metadata.token_exchange : undefined;
  return {
    id,
    identifier: clientIdentifier(id, url),
    document: url === null ? undefined : { url, freshUntil: row.document_fresh_until ?? 0 },
    version: row.version,
    kind,
    isVouchedFor,
    authMethod: authMethod(metadata.token_endpoint_auth_method),
    assertionSigningAlg: settledName(metadata.token_endpoint_auth_signing_alg),
    secret: row.client_secret_sealed === null ? undefined : openSecret(row.id, row.client_secret_sealed, keys),
    formerSecret: formerSecretOf(row, keys),
    redirectUris: metadata.redirect_uris,
    hasParsedRedirectUris: metadata.imported_from === 'mas',
    postLogoutRedirectUris: metadata.post_logout_redirect_uris ?? [],
    grantTypes: [...metadata.grant_types, ...(tokenExchange === undefined ? [] : [TOKEN_EXCHANGE_GRANT_TYPE])],
    scope: metadata.scope?.split(' '),
    tokenExchange,
    name: overrides?.client_name === undefined ? (metadata.client_name ?? {}) : { '': overrides.client_name },
    clientUri: metadata.client_uri?.[''],
    logoUri: overrides?.logo_uri ?? metadata.logo_uri?.[''],
    policyUri: metadata.policy_uri?.[''],
    tosUri: metadata.tos_uri?.[''],
    isFirstParty: metadata.first_party ?? false,
    defaultMaxAge: metadata.default_max_age,
    requiresAuthTime: metadata.require_auth_time ?? false,
    defaultAcrValues: metadata.default_acr_values ?? [],
    requiresPushedRequests: metadata.require_pushed_authorization_requests ?? false,
    requiresSignedRequests: metadata.require_signed_request_object ?? false,
    requestObjectSigningAlg: settledName(metadata.request_object_signing_alg),
    hasIdTokenClaims: metadata.id_token_claims ?? true,
    claims: extraClaimsFromJson(isVouchedFor ? metadata.claims : undefined),
    hasStrictAuthMethod: metadata.strict_auth_method ?? false,
    sector: sectorHost(sectorUri(metadata)),
    hasBoundTokens: metadata.dpop_bound_access_tokens ?? false,
    isFapi2: metadata.profile === 'fapi2',
    authorizationSignedResponseAlg: metadata.authorization_signed_response_alg ?? MANDATORY_ALGORITHM,
    idTokenSignedResponseAlg: metadata.id_token_signed_response_alg,
    introspectionSignedResponseAlg: metadata.introspection_signed_response_alg ?? MANDATORY_ALGORITHM,
    jwks: metadata.jwks,
    jwksUri: metadata.jwks_uri,
  };
}

export function kindOf({ is_static, kind }: Pick<ClientRow, 'is_static' | 'kind'>): ClientKind {
  return kind ?? (is_static ? 'static' : 'dynamic');
}

/** Returns `kindOf` as an expression. @param client alias of `oauth2_clients` */
export function clientKindSql(client: string): string {
  return `coalesce(${client}.kind, case when ${client}.is_static then 'static' else 'dynamic' end)`;
}

/**
 * Returns a text that users see about a client, as an expression: the administrator's, or the untagged one of its
 * metadata. @param client alias of `oauth2_clients`
 */
export function shownTextSql(client: string, name: ShownText): string {
  const own = `${client}.metadata -> '${name}' ->> ''`;
  return name === 'client_name' || name === 'logo_uri' ? `coalesce(${client}.overrides ->> '${name}', ${own})` : own;
}

type ShownText = 'client_name' | 'client_uri' | 'logo_uri' | 'policy_uri' | 'tos_uri';

/** Generates a secret; undefined for methods without one. RFC 7518 3.2 requires at least 64 bytes for HS512. */
export function newSecret(method: ClientAuthMethod): Secret | undefined {
  if (!usesSecret(method)) return undefined;
  return new Secret(method === 'client_secret_jwt' ? randomBytes(64).toString('base64url') : randomBase64Url());
}

export function sealSecret(uuid: string, secret: string, keys: KeyRing): Buffer {
  return keys.seal('column', secret, associatedData(uuid, 'client_secret'));
}

export function openSecret(uuid: string, sealed: Buffer, keys: KeyRing): Secret {
  return opened(uuid, sealed, keys, 'client_secret');
}

/** Seals the current secret again as the former one. */
export function sealFormerSecret(uuid: string, secret: string, keys: KeyRing): Buffer {
  return keys.seal('column', secret, associatedData(uuid, 'former_secret'));
}

function formerSecretOf(row: ClientRow, keys: KeyRing): FormerSecret | undefined {
  const { former_secret_sealed: sealed, former_secret_expires_at: expiresAt } = row;
  if (sealed === null || expiresAt === null) return undefined;
  return { secret: opened(row.id, sealed, keys, 'former_secret'), expiresAt };
}

function opened(uuid: string, sealed: Buffer, keys: KeyRing, name: SealedName): Secret {
  const secret = keys.open('column', sealed, associatedData(uuid, name));
  if (secret === undefined) {
    throw new Error(`the stored secret of client ${fromUuid(uuid)} cannot be decrypted with secrets.encryption`);
  }
  return new Secret(secret.toString());
}

type SealedName = 'client_secret' | 'former_secret';

function associatedData(uuid: string, name: SealedName): string {
  return `oauth2_clients|${name}|${fromUuid(uuid)}`;
}

function authMethod(text: string): ClientAuthMethod {
  const method = CLIENT_AUTH_METHODS.find((known) => known === text);
  if (method === undefined) throw new Error(`stored client has an unknown authentication method: ${text}`);
  return method;
}
