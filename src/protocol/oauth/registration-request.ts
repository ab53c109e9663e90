/**
 * Metadata that a client sends to register, validated and completed with defaults.
 * @see RFC 7591 2, OpenID Connect Dynamic Client Registration 1.0 section 2, oauth 4.3
 */
import { LatchkeyError } from '#platform/base/errors.ts';
import { ACCEPTED_ALGORITHMS, MANDATORY_ALGORITHM } from '#protocol/jose/signing-algorithms.ts';
import { commonHost } from '../oidc/sector.ts';
import {
  assertionAlgorithms,
  CLIENT_AUTH_METHODS,
  type ClientAuthMethod,
  RESPONSE_TYPES,
  type RegistrableGrantType,
  SUBJECT_TYPES,
  type SubjectType,
  usesSecret,
} from './client-metadata.ts';
import {
  CLIENT_PROFILES,
  type ClientProfile,
  FAPI2_ALGORITHMS,
  FAPI2_AUTH_METHOD,
  FAPI2_RESPONSE_ALGORITHM,
} from './fapi2.ts';
import { invalidMetadata, isShowable, type Localized, MetadataMembers } from './metadata-members.ts';
import { type RegisteredKeySet, readKeys, requireKey } from './registered-keys.ts';
import {
  type ApplicationType,
  backchannelUriProblem,
  ClientHost,
  isNativeRedirectUri,
  pageUriProblem,
  registeredRedirectUriProblem,
} from './registered-uris.ts';
import {
  type MetadataProblem,
  problemDetails,
  problemText,
  type RegistrationPolicy,
  type RegistrationSwitches,
  registrationPolicy,
} from './registration-policy.ts';
import { parseScope } from './scopes.ts';
import { cutForLog } from './uris-in-logs.ts';

/** Stored metadata of a dynamically registered client. Unset members are omitted. */
export interface RegisteredMetadata {
  readonly application_type: ApplicationType;
  readonly token_endpoint_auth_method: ClientAuthMethod;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly RegistrableGrantType[];
  readonly response_types: readonly string[];
  readonly id_token_signed_response_alg: string;
  readonly userinfo_signed_response_alg?: string;
  readonly introspection_signed_response_alg?: string;
  readonly authorization_signed_response_alg?: string;
  readonly subject_type: SubjectType;
  /** Not fetched yet. Whether the sector includes the client is checked elsewhere. */
  readonly sector_identifier_uri?: string;
  readonly jwks?: RegisteredKeySet;
  readonly jwks_uri?: string;
  readonly client_name?: Localized;
  readonly client_uri?: Localized;
  readonly logo_uri?: Localized;
  readonly policy_uri?: Localized;
  readonly tos_uri?: Localized;
  readonly contacts?: readonly string[];
  readonly initiate_login_uri?: string;
  readonly post_logout_redirect_uris?: readonly string[];
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: boolean;
  /** Space-separated. */
  readonly scope?: string;
  readonly software_id?: string;
  readonly software_version?: string;
  /** Already verified. */
  readonly software_statement?: string;
  readonly default_max_age?: number;
  readonly require_auth_time?: boolean;
  readonly require_pushed_authorization_requests?: boolean;
  readonly dpop_bound_access_tokens?: boolean;
  /** A Latchkey extension. */
  readonly profile?: ClientProfile;
  readonly require_signed_request_object?: boolean;
  readonly request_object_signing_alg?: string;
  readonly default_acr_values?: readonly string[];
}

/** Rules for a registration. They also apply to metadata documents that clients publish. */
export interface RegistrationRules extends RegistrationSwitches {
  /** Supported grant types. */
  readonly grantTypes: readonly RegistrableGrantType[];
  /** Algorithms available for signed responses to clients. */
  readonly signingAlgorithms: readonly string[];
  /** URL that the metadata was fetched from, which is the `client_id`; undefined if the client sent it. */
  readonly documentUrl?: string | undefined;
}

const MAX_URIS = 20;
const MAX_CONTACTS = 10;
const MAX_CONTACT_CHARACTERS = 254;
const MAX_ACR_VALUES = 20;
const MAX_ACR_CHARACTERS = 255;

/** Members with the algorithm of a response to the client. */
const SIGNED_RESPONSES = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'introspection_signed_response_alg',
  'authorization_signed_response_alg',
] as const;
/** Members with the algorithm of the client's own signatures. */
const CLIENT_SIGNATURES = ['token_endpoint_auth_signing_alg', 'request_object_signing_alg'] as const;
/** Members that request unsupported features. Clients must not rely on them. */
const UNSUPPORTED = [
  'authorization_encrypted_response_alg',
  'authorization_encrypted_response_enc',
  'id_token_encrypted_response_alg',
  'id_token_encrypted_response_enc',
  'introspection_encrypted_response_alg',
  'introspection_encrypted_response_enc',
  'request_object_encryption_alg',
  'request_object_encryption_enc',
  'userinfo_encrypted_response_alg',
  'userinfo_encrypted_response_enc',
];
/** Unsupported flags that are off by default. */
const UNSUPPORTED_SWITCHES = ['frontchannel_logout_session_required', 'tls_client_certificate_bound_access_tokens'];

/**
 * Parses the body of a registration. Checks types first, then redirect URIs, then the rest.
 * @param body a JSON object
 * @throws LatchkeyError `invalid_client_metadata`, `invalid_redirect_uri`
 */
export function parseRegistration(body: object, rules: RegistrationRules): RegisteredMetadata {
  const members = new MetadataMembers(body);
  const read = readMembers(members);
  const grantTypes = grantTypesOf(read.grantTypes, rules);
  const usesCode = grantTypes.includes('authorization_code');
  const { documentUrl } = rules;
  const authMethod = read.authMethod ?? (documentUrl === undefined ? 'client_secret_basic' : 'none');
  if (documentUrl !== undefined) refuseSharedSecret(members, authMethod);
  const policy = registrationPolicy(rules);
  const redirectUris = [...new Set(read.redirectUris ?? [])];
  const applicationType = read.applicationType ?? likelyType(redirectUris, authMethod, policy);

  const clientUri = read.clientUri?.[''];
  if (clientUri === undefined && documentUrl === undefined && !policy.allowMissingClientUri) {
    check('client_uri', { text: 'is required', setting: 'allow_missing_client_uri' });
  }
  // The location of a document proves a host, while `client_uri` only claims one.
  const verifiedHost = documentUrl === undefined ? undefined : new ClientHost(documentUrl, 'client_id');
  for (const uri of Object.values(read.clientUri ?? {})) check('client_uri', pageUriProblem(uri, policy, verifiedHost));
  const clientHost = verifiedHost ?? new ClientHost(clientUri, 'client_uri');

  checkRedirectUris(redirectUris, usesCode, (uri) =>
    registeredRedirectUriProblem(uri, applicationType, policy, clientHost),
  );
  const afterLogout = read.afterLogout === undefined ? undefined : [...new Set(read.afterLogout)];
  for (const [index, uri] of (afterLogout ?? []).entries()) {
    const problem = registeredRedirectUriProblem(uri, applicationType, policy, clientHost);
    check(`post_logout_redirect_uris[${index}] (${cutForLog(uri)})`, problem);
  }
  if ((afterLogout?.length ?? 0) > MAX_URIS)
    throw invalidMetadata('post_logout_redirect_uris', `must contain at most ${MAX_URIS} URIs`);

  for (const [name, value] of [
    ['logo_uri', read.logoUri],
    ['policy_uri', read.policyUri],
    ['tos_uri', read.tosUri],
  ] as const) {
    for (const uri of Object.values(value ?? {})) check(name, pageUriProblem(uri, policy, clientHost));
  }
  if (read.initiateLoginUri !== undefined) {
    check('initiate_login_uri', pageUriProblem(read.initiateLoginUri, policy, clientHost));
  }
  const assertionAlg = assertionAlgorithm(read.assertionAlg, authMethod);
  if (authMethod === 'private_key_jwt') requireKey(read.keys, assertionAlg, 'private_key_jwt');
  if (read.backchannelLogoutUri !== undefined) {
    check('backchannel_logout_uri', backchannelUriProblem(read.backchannelLogoutUri, policy, clientHost));
  }
  if (authMethod === 'none' && grantTypes.includes('client_credentials')) {
    throw invalidMetadata('grant_types', 'must not contain client_credentials with token_endpoint_auth_method none');
  }
  const subjectType = read.subjectType ?? 'public';
  const hasSector = read.sectorIdentifierUri !== undefined || commonHost(redirectUris) !== undefined;
  if (subjectType === 'pairwise' && !hasSector) {
    const needs = 'redirect_uris with a single host that is not loopback, or sector_identifier_uri';
    throw invalidMetadata('subject_type', `pairwise requires ${needs}`);
  }
  checkSignedRequests(read);
  refuseUnsupported(members);
  const isFapi2 = read.profile === 'fapi2';
  if (isFapi2) checkProfile(members, authMethod);
  const responseAlgorithm = isFapi2 ? fapi2ResponseAlgorithm(rules) : undefined;

  return definedOnly({
    application_type: applicationType,
    token_endpoint_auth_method: authMethod,
    token_endpoint_auth_signing_alg: assertionAlg,
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: responseTypesOf(read.responseTypes, usesCode),
    id_token_signed_response_alg:
      signingAlgorithm(members, 'id_token_signed_response_alg', rules) ?? responseAlgorithm ?? MANDATORY_ALGORITHM,
    userinfo_signed_response_alg: signingAlgorithm(members, 'userinfo_signed_response_alg', rules),
    introspection_signed_response_alg:
      signingAlgorithm(members, 'introspection_signed_response_alg', rules) ?? responseAlgorithm,
    authorization_signed_response_alg:
      signingAlgorithm(members, 'authorization_signed_response_alg', rules) ?? responseAlgorithm,
    subject_type: subjectType,
    sector_identifier_uri: read.sectorIdentifierUri,
    jwks: read.keys.jwks,
    jwks_uri: read.keys.uri,
    client_name: read.clientName,
    client_uri: read.clientUri,
    logo_uri: read.logoUri,
    policy_uri: read.policyUri,
    tos_uri: read.tosUri,
    contacts: read.contacts,
    initiate_login_uri: read.initiateLoginUri,
    post_logout_redirect_uris: afterLogout,
    backchannel_logout_uri: read.backchannelLogoutUri,
    backchannel_logout_session_required: read.isBackchannelSessionRequired,
    scope: read.scope,
    software_id: read.softwareId,
    software_version: read.softwareVersion,
    software_statement: read.softwareStatement,
    default_max_age: read.defaultMaxAge,
    require_auth_time: read.requireAuthTime,
    require_pushed_authorization_requests: isFapi2 ? true : read.requirePushedRequests,
    dpop_bound_access_tokens: isFapi2 ? true : read.boundTokens,
    profile: read.profile,
    require_signed_request_object: read.requireSignedRequests,
    request_object_signing_alg: read.requestObjectAlg,
    default_acr_values: read.defaultAcrValues,
  });
}

/**
 * Guesses the type of a client that does not specify one. Command-line tools, editors and MCP clients rarely send
 * `application_type`. OpenID Connect Registration 1.0, 2 would make them web applications, which cannot have loopback
 * URIs.
 */
function likelyType(
  redirectUris: readonly string[],
  authMethod: ClientAuthMethod,
  policy: RegistrationPolicy,
): ApplicationType {
  const native = redirectUris.filter((uri) => isNativeRedirectUri(uri, policy));
  if (native.length === 0) return 'web';
  const isNative = policy.isNativeByOneUri || (authMethod === 'none' && native.length === redirectUris.length);
  return isNative ? 'native' : 'web';
}

/** Reads every member with a known type, so that a wrong type is reported whatever else is wrong. */
function readMembers(members: MetadataMembers) {
  members.strings('request_uris');
  for (const name of UNSUPPORTED_SWITCHES) members.flag(name);
  for (const name of [...UNSUPPORTED, ...SIGNED_RESPONSES]) members.text(name);
  const assertionAlg = members.text('token_endpoint_auth_signing_alg');
  if (assertionAlg === 'none') throw invalidMetadata('token_endpoint_auth_signing_alg', 'must not be none');
  return {
    redirectUris: members.strings('redirect_uris'),
    afterLogout: members.strings('post_logout_redirect_uris'),
    responseTypes: members.strings('response_types'),
    grantTypes: members.strings('grant_types'),
    applicationType: members.choice('application_type', ['web', 'native']),
    sectorIdentifierUri: sectorIdentifierOf(members),
    subjectType: members.choice('subject_type', SUBJECT_TYPES),
    authMethod: members.choice('token_endpoint_auth_method', CLIENT_AUTH_METHODS),
    assertionAlg,
    keys: readKeys(members),
    clientName: members.shownLocalized('client_name'),
    clientUri: members.localized('client_uri'),
    logoUri: members.localized('logo_uri'),
    policyUri: members.localized('policy_uri'),
    tosUri: members.localized('tos_uri'),
    contacts: contactsOf(members),
    initiateLoginUri: members.text('initiate_login_uri'),
    backchannelLogoutUri: members.text('backchannel_logout_uri'),
    isBackchannelSessionRequired: members.flag('backchannel_logout_session_required'),
    scope: scopeOf(members),
    softwareId: members.shown('software_id'),
    softwareVersion: members.shown('software_version'),
    softwareStatement: members.text('software_statement'),
    defaultMaxAge: members.seconds('default_max_age'),
    requireAuthTime: members.flag('require_auth_time'),
    requirePushedRequests: members.flag('require_pushed_authorization_requests'),
    profile: members.choice('profile', CLIENT_PROFILES),
    boundTokens: members.flag('dpop_bound_access_tokens'),
    requireSignedRequests: members.flag('require_signed_request_object'),
    requestObjectAlg: members.choice('request_object_signing_alg', ACCEPTED_ALGORITHMS),
    defaultAcrValues: acrValuesOf(members),
  };
}

/** Returns the algorithm if a key of this server signs with it, which never applies to `none`. */
function signingAlgorithm(
  members: MetadataMembers,
  name: (typeof SIGNED_RESPONSES)[number],
  rules: RegistrationRules,
): string | undefined {
  const algorithm = members.text(name);
  if (algorithm !== undefined && !rules.signingAlgorithms.includes(algorithm)) {
    throw invalidMetadata(name, `must be one of ${rules.signingAlgorithms.join(', ')}`);
  }
  return algorithm;
}

/**
 * Optional (OpenID Connect Dynamic Client Registration 1.0 section 2): if it is absent, every algorithm of the method
 * is accepted. Not stored for a method without assertions.
 */
function assertionAlgorithm(requested: string | undefined, method: ClientAuthMethod): string | undefined {
  const possible = assertionAlgorithms(method);
  if (requested === undefined || possible === undefined) return undefined;
  if (possible.includes(requested)) return requested;
  throw invalidMetadata('token_endpoint_auth_signing_alg', `must be one of ${possible.join(', ')} for ${method}`);
}

function fapi2ResponseAlgorithm({ signingAlgorithms }: RegistrationRules): string {
  const possible = [FAPI2_RESPONSE_ALGORITHM, ...FAPI2_ALGORITHMS].find((one) => signingAlgorithms.includes(one));
  if (possible === undefined)
    throw invalidMetadata('profile', `requires a signing key of this server for ${FAPI2_ALGORITHMS.join(', ')}`);
  return possible;
}

/** Rejects what would violate FAPI 2.0. */
function checkProfile(members: MetadataMembers, authMethod: ClientAuthMethod): void {
  if (authMethod !== FAPI2_AUTH_METHOD) {
    throw invalidMetadata('token_endpoint_auth_method', `must be ${FAPI2_AUTH_METHOD} with profile fapi2`);
  }
  for (const name of [...SIGNED_RESPONSES, ...CLIENT_SIGNATURES]) {
    const algorithm = members.text(name);
    if (algorithm === undefined || FAPI2_ALGORITHMS.includes(algorithm)) continue;
    throw invalidMetadata(name, `must be one of ${FAPI2_ALGORITHMS.join(', ')} with profile fapi2`);
  }
}

/** Without a key, the promised signatures could not be verified. */
function checkSignedRequests(read: ReturnType<typeof readMembers>): void {
  const { requestObjectAlg: algorithm } = read;
  if (algorithm !== undefined) requireKey(read.keys, algorithm, 'request_object_signing_alg');
  if (read.requireSignedRequests === true) requireKey(read.keys, algorithm, 'require_signed_request_object');
}

/** RFC 7591 2: the server may replace requested values with supported ones, and returns them to the client. */
function grantTypesOf(requested: readonly string[] | undefined, rules: RegistrationRules): RegistrableGrantType[] {
  if (requested === undefined) return ['authorization_code'];
  const offered = rules.grantTypes.filter((grantType) => requested.includes(grantType));
  if (offered.length === 0) throw invalidMetadata('grant_types', `must contain one of ${rules.grantTypes.join(', ')}`);
  return offered;
}

function responseTypesOf(requested: readonly string[] | undefined, usesCode: boolean): string[] {
  if (requested === undefined) return usesCode ? [...RESPONSE_TYPES] : [];
  const offered = RESPONSE_TYPES.filter((responseType) => requested.includes(responseType));
  if (requested.length > 0 && offered.length === 0)
    throw invalidMetadata('response_types', `must contain ${RESPONSE_TYPES.join(', ')}`);
  if (offered.length > 0 && !usesCode) {
    throw invalidMetadata('response_types', 'must not contain code without the grant type authorization_code');
  }
  return offered;
}

function checkRedirectUris(
  uris: readonly string[],
  areRequired: boolean,
  problemOf: (uri: string) => MetadataProblem | undefined,
): void {
  const refuse = (description: string) => new LatchkeyError('invalid_redirect_uri', { description });
  if (areRequired && uris.length === 0) throw refuse('redirect_uris is required and must not be empty.');
  if (uris.length > MAX_URIS) throw refuse(`redirect_uris must contain at most ${MAX_URIS} URIs.`);
  for (const [index, uri] of uris.entries()) {
    const problem = problemOf(uri);
    if (problem === undefined) continue;
    throw new LatchkeyError('invalid_redirect_uri', {
      description: `redirect_uris[${index}] (${cutForLog(uri)}) ${problemText(problem)}.`,
      details: problemDetails(problem),
    });
  }
}

function contactsOf(members: MetadataMembers): readonly string[] | undefined {
  const contacts = members.strings('contacts');
  if (contacts === undefined) return undefined;
  if (contacts.length > MAX_CONTACTS || !contacts.every((contact) => isShowable(contact, MAX_CONTACT_CHARACTERS))) {
    throw invalidMetadata(
      'contacts',
      `must contain at most ${MAX_CONTACTS} contacts of at most ${MAX_CONTACT_CHARACTERS} characters`,
    );
  }
  return contacts;
}

function scopeOf(members: MetadataMembers): string | undefined {
  const text = members.text('scope');
  if (text === undefined) return undefined;
  const scopes = parseScope(text);
  if (scopes === undefined) throw invalidMetadata('scope', 'must be a list of scopes separated by spaces');
  return scopes.join(' ');
}

function sectorIdentifierOf(members: MetadataMembers): string | undefined {
  const uri = members.text('sector_identifier_uri');
  if (uri === undefined) return undefined;
  const problem = pageUriProblem(uri, { allowHostMismatch: true, allowInsecureUris: false });
  if (problem !== undefined) throw invalidMetadata('sector_identifier_uri', problem.text);
  return uri;
}

function acrValuesOf(members: MetadataMembers): readonly string[] | undefined {
  const values = members.strings('default_acr_values');
  if (values === undefined) return undefined;
  if (values.length > MAX_ACR_VALUES || values.some((value) => value.length > MAX_ACR_CHARACTERS)) {
    throw invalidMetadata(
      'default_acr_values',
      `must contain at most ${MAX_ACR_VALUES} values of at most ${MAX_ACR_CHARACTERS} characters`,
    );
  }
  return values;
}

/**
 * A secret in a public document is not secret, and the client cannot agree on one in another way (Client ID Metadata
 * Document 4.1).
 */
function refuseSharedSecret(members: MetadataMembers, authMethod: ClientAuthMethod): void {
  for (const name of ['client_secret', 'client_secret_expires_at']) {
    if (members.get(name) !== undefined) throw invalidMetadata(name, 'must not be used in a client metadata document');
  }
  if (!usesSecret(authMethod)) return;
  const possible = CLIENT_AUTH_METHODS.filter((method) => !usesSecret(method));
  throw invalidMetadata(
    'token_endpoint_auth_method',
    `must be one of ${possible.join(', ')} in a client metadata document`,
  );
}

/** RFC 7591 3.2.2; no issuer of software statements is trusted here. */
function refuseUnsupported(members: MetadataMembers): void {
  for (const name of UNSUPPORTED) if (members.text(name) !== undefined) throw invalidMetadata(name, 'is not supported');
  for (const name of UNSUPPORTED_SWITCHES)
    if (members.flag(name) === true) throw invalidMetadata(name, 'is not supported');
}

function check(name: string, problem: MetadataProblem | undefined): void {
  if (problem === undefined) return;
  throw invalidMetadata(name, problemText(problem), problemDetails(problem));
}

type WithoutUndefined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

function definedOnly<T extends object>(members: T): WithoutUndefined<T>;
function definedOnly(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
