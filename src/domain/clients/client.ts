/**
 * OAuth clients: tables `oauth2_clients` and `oauth2_consents` (what people allowed a client, in `consents.ts`).
 *
 * A client is static (of the configuration, see `sync-static-clients.ts`) or dynamic, and current until it is disabled.
 * Dynamic ones registered themselves (`register-client.ts`), or publish what they are (`store-client-document.ts`).
 * Requests get clients from the cache of `ClientDirectory`; statements that act for one compare the version of its row.
 * Authorization requests, sessions and tokens of a client belong to modules that import this one.
 */
import { type ClientId, fromUuid } from '#platform/base/ids.ts';
import { randomBase64Url, randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import { ms } from '#platform/postgres/statement.ts';
import { MANDATORY_ALGORITHM, settledName } from '#protocol/jose/signing-algorithms.ts';
import { CLIENT_AUTH_METHODS, type ClientAuthMethod, usesSecret } from '#protocol/oauth/client-metadata.ts';
import type { ClientProfile } from '#protocol/oauth/fapi2.ts';
import type { Localized } from '#protocol/oauth/metadata-members.ts';
import type { ApplicationType } from '#protocol/oauth/registered-uris.ts';
import { type ExtraClaims, extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import { clientIdentifier } from './client-names.ts';
import { sectorHost, sectorUri } from './subjects.ts';

/** An OAuth client (application), as cached from its row. */
export interface Client {
  readonly id: ClientId;
  /** Its `client_id`, by which others name it: the id, or the address of its metadata document. */
  readonly identifier: string;
  /** Published by the client itself; undefined: it is configured, or registered itself. */
  readonly document: ClientDocument | undefined;
  /** Raised by every change; statements that act on the word of a cached client compare it. */
  readonly version: number;
  /** Defined by the operator's configuration, and so shown as verified. */
  readonly isStatic: boolean;
  readonly authMethod: ClientAuthMethod;
  /** Algorithm of its assertions; undefined: any of its method. */
  readonly assertionSigningAlg: string | undefined;
  /** Present for the methods with a secret. */
  readonly secret: Secret | undefined;
  readonly redirectUris: readonly string[];
  /** Where the browser may be sent after a sign-out that the client asked for. */
  readonly postLogoutRedirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Maximum scopes; undefined: no restriction. */
  readonly scope: readonly string[] | undefined;
  /** What it may exchange tokens for; undefined: nothing. */
  readonly tokenExchange: TokenExchangeRights | undefined;
  /** Localized names by language tag, the untagged one under `""`. */
  readonly name: Readonly<Record<string, string>>;
  readonly clientUri: string | undefined;
  readonly logoUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
  /** The consent page may be skipped. */
  readonly isFirstParty: boolean;
  /** Seconds; used when a request has no `max_age`. */
  readonly defaultMaxAge: number | undefined;
  readonly requiresAuthTime: boolean;
  /** Used when a request has no `acr_values`, the preferred one first. */
  readonly defaultAcrValues: readonly string[];
  /** Authorization requests in its name have to be pushed (RFC 9126). */
  readonly requiresPushedRequests: boolean;
  /** Authorization requests in its name have to come in request objects (RFC 9101). */
  readonly requiresSignedRequests: boolean;
  /** Algorithm of its request objects; undefined: any with a private key. */
  readonly requestObjectSigningAlg: string | undefined;
  /** Its ID tokens carry the claims of the scopes `profile`, `email` and `groups`, and `claims`. */
  readonly hasIdTokenClaims: boolean;
  /** About everybody who signs in at it. */
  readonly claims: ExtraClaims;
  /** Its secret is accepted only in the place that `authMethod` names, header or form. */
  readonly hasStrictAuthMethod: boolean;
  /** Host of its sector: it knows people by pairwise subjects (see `Subjects`). Undefined: by the account's identifier. */
  readonly sector: string | undefined;
  /** It takes only access tokens that are bound to a key (RFC 9449 5.2). */
  readonly hasBoundTokens: boolean;
  /** It is held to FAPI 2.0; what metadata has a name for, as pushed requests, is in the members for that. */
  readonly isFapi2: boolean;
  /** Algorithm of its ID tokens. */
  readonly idTokenSignedResponseAlg: string;
  /** Algorithm of the authorization responses that it asks for as a JWT (JARM). */
  readonly authorizationSignedResponseAlg: string;
  /** Algorithm of the introspection answers that it asks for as a JWT. */
  readonly introspectionSignedResponseAlg: string;
  /** Its public keys as a JSON Web Key Set, of which `ClientKeys` makes use; undefined when it has none here. */
  readonly jwks: unknown;
  /** Where it publishes them instead. */
  readonly jwksUri: string | undefined;
}

/** Where metadata come from that were not registered (OAuth Client ID Metadata Document). */
export interface ClientDocument {
  readonly url: string;
  /** Milliseconds since the epoch; from then on it is fetched again before something new begins. */
  readonly freshUntil: number;
}

/**
 * The client's own name for itself in a language, else the one without a language tag (RFC 7591 2.2). As it was
 * registered: pages clean it before they show it. Undefined when the client has none.
 */
export function clientName(client: Client, language: string): string | undefined {
  const wanted = language.toLowerCase();
  const primary = wanted.split('-', 1)[0];
  const byTag = new Map(Object.entries(client.name).map(([tag, name]) => [tag.toLowerCase(), name]));
  return byTag.get(wanted) ?? (primary === undefined ? undefined : byTag.get(primary)) ?? byTag.get('');
}

/** What a client of the operator may make of tokens of others (RFC 8693). */
export interface TokenExchangeRights {
  /** Clients whose access tokens it may bring; `*`: any. */
  readonly subjects: readonly string[];
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** It is not named as the one who acts. */
  readonly impersonation: boolean;
}

/** The `metadata` column: names of RFC 7591 2, what is not set left out. */
export interface ClientMetadata {
  /** Not set: a static client whose entry does not say. */
  readonly application_type?: ApplicationType;
  readonly token_endpoint_auth_method: string;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  /** Read where sessions end, by SQL. */
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: boolean;
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  /** `public` when it is not set. */
  readonly subject_type?: 'public' | 'pairwise';
  readonly sector_identifier_uri?: string;
  readonly id_token_signed_response_alg: string;
  /** Its answers at userinfo are JWTs. */
  readonly userinfo_signed_response_alg?: string;
  /** RS256 when it is not set. */
  readonly introspection_signed_response_alg?: string;
  /** RS256 when it is not set. */
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
  /** Ours. */
  readonly profile?: ClientProfile;
  /** Ours, of static clients only. */
  readonly token_exchange?: TokenExchangeRights;
  /** Ours: the consent page may be skipped. */
  readonly first_party?: boolean;
  /** Ours: claims of the scopes in ID tokens; true when it is not set. */
  readonly id_token_claims?: boolean;
  /** Ours, of static clients only. */
  readonly claims?: ExtraClaims;
  /** Ours: no other way to send the secret than the registered one. */
  readonly strict_auth_method?: boolean;
}

export interface ClientRow {
  readonly id: string;
  readonly is_static: boolean;
  readonly version: number;
  readonly client_secret_sealed: Buffer | null;
  readonly metadata: ClientMetadata;
  /** Null, as the next: not published by the client. */
  readonly document_url: string | null;
  readonly document_fresh_until: number | null;
}

/** The columns of a `ClientRow`. @param client alias of `oauth2_clients` */
export function clientColumns(client: string): string {
  const columns = ['id', 'is_static', 'version', 'client_secret_sealed', 'metadata', 'document_url'];
  const fresh = ms(`${client}.document_fresh_until`);
  return `${columns.map((name) => `${client}.${name}`).join(', ')}, ${fresh} as document_fresh_until`;
}

/**
 * The client of a row.
 * @throws Error when its secret cannot be opened: the operator lost or changed the encryption key
 */
export function clientOfRow(row: ClientRow, keys: KeyRing): Client {
  const { metadata } = row;
  const id = fromUuid<'client'>(row.id);
  const url = row.document_url;
  return {
    id,
    identifier: clientIdentifier(id, url),
    document: url === null ? undefined : { url, freshUntil: row.document_fresh_until ?? 0 },
    version: row.version,
    isStatic: row.is_static,
    authMethod: authMethod(metadata.token_endpoint_auth_method),
    assertionSigningAlg: settledName(metadata.token_endpoint_auth_signing_alg),
    secret: row.client_secret_sealed === null ? undefined : openSecret(row.id, row.client_secret_sealed, keys),
    redirectUris: metadata.redirect_uris,
    postLogoutRedirectUris: metadata.post_logout_redirect_uris ?? [],
    grantTypes: metadata.grant_types,
    scope: metadata.scope?.split(' '),
    tokenExchange: row.is_static ? metadata.token_exchange : undefined,
    name: metadata.client_name ?? {},
    clientUri: metadata.client_uri?.[''],
    logoUri: metadata.logo_uri?.[''],
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
    claims: extraClaimsFromJson(row.is_static ? metadata.claims : undefined),
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

/** Undefined for a method without one. RFC 7518 3.2: a key that signs with HS512 has 64 bytes at least. */
export function newSecret(method: ClientAuthMethod): Secret | undefined {
  if (!usesSecret(method)) return undefined;
  return new Secret(method === 'client_secret_jwt' ? randomBytes(64).toString('base64url') : randomBase64Url());
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
