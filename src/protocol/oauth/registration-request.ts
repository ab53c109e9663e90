/**
 * What a client says of itself when it registers, checked and completed with defaults.
 * @see RFC 7591 2, OpenID Connect Dynamic Client Registration 1.0 section 2, oauth 4.3
 */
import { LatchkeyError } from '#platform/base/errors.ts';
import { MANDATORY_ALGORITHM } from '#protocol/jose/signing-algorithms.ts';
import { CLIENT_AUTH_METHODS, type ClientAuthMethod, type GrantType, RESPONSE_TYPES } from './client-metadata.ts';
import {
  type ApplicationType,
  ClientHost,
  pageUriProblem,
  registeredRedirectUriProblem,
  type UriPolicy,
} from './registered-uris.ts';
import { parseScope } from './scopes.ts';

/** A value in several languages by language tag, the untagged one under `""`. */
type Localized = Readonly<Record<string, string>>;

/** What is stored of a client that registered itself; what is not set is left out. */
export interface RegisteredMetadata {
  readonly application_type: ApplicationType;
  readonly token_endpoint_auth_method: ClientAuthMethod;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly GrantType[];
  readonly response_types: readonly string[];
  readonly id_token_signed_response_alg: string;
  readonly subject_type: 'public';
  readonly client_name?: Localized;
  readonly client_uri?: Localized;
  readonly logo_uri?: Localized;
  readonly policy_uri?: Localized;
  readonly tos_uri?: Localized;
  readonly contacts?: readonly string[];
  readonly initiate_login_uri?: string;
  readonly post_logout_redirect_uris?: readonly string[];
  /** Space-separated. */
  readonly scope?: string;
  readonly software_id?: string;
  readonly software_version?: string;
  readonly default_max_age?: number;
  readonly require_auth_time?: boolean;
  readonly default_acr_values?: readonly string[];
}

/** What a registration is judged by. */
export interface RegistrationRules extends UriPolicy {
  readonly allowMissingClientUri: boolean;
  /** Grant types that work here. */
  readonly grantTypes: readonly GrantType[];
  /** With which ID tokens can be signed. */
  readonly signingAlgorithms: readonly string[];
}

const MAX_URIS = 20;
const MAX_VARIANTS = 50;
const MAX_NAME_CHARACTERS = 255;
const MAX_CONTACTS = 10;
const MAX_CONTACT_CHARACTERS = 254;
const MAX_ACR_VALUES = 20;
const MAX_SECONDS = 2_147_483_647;
const MAX_KEYS = 20;
/** Controls, line separators, and characters that turn the direction of the text next to them. */
const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** BCP 47 in outline. */
const LANGUAGE_TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,7}$/;
/** RFC 7518 6: members of a key that nobody but its owner may have. */
const PRIVATE_KEY_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Members that ask for something that this service does not do, so that the client would rely on nothing. */
const UNSUPPORTED = [
  'authorization_encrypted_response_alg',
  'authorization_encrypted_response_enc',
  'authorization_signed_response_alg',
  'backchannel_logout_uri',
  'id_token_encrypted_response_alg',
  'id_token_encrypted_response_enc',
  'introspection_encrypted_response_alg',
  'introspection_encrypted_response_enc',
  'introspection_signed_response_alg',
  'request_object_encryption_alg',
  'request_object_encryption_enc',
  'request_object_signing_alg',
  'sector_identifier_uri',
  'userinfo_encrypted_response_alg',
  'userinfo_encrypted_response_enc',
  'userinfo_signed_response_alg',
];
/** The same for switches that are off unless they are set. */
const UNSUPPORTED_SWITCHES = [
  'backchannel_logout_session_required',
  'dpop_bound_access_tokens',
  'frontchannel_logout_session_required',
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'tls_client_certificate_bound_access_tokens',
];

/**
 * Reads the body of a registration. Types are judged first, then redirect URIs, then the rest.
 * @param body a JSON object
 * @throws LatchkeyError `invalid_client_metadata`, `invalid_redirect_uri`, `invalid_software_statement`,
 * `unapproved_software_statement`
 */
export function parseRegistration(body: object, rules: RegistrationRules): RegisteredMetadata {
  const members = new Members(body);
  const read = readMembers(members);
  refuseStatement(members);
  const grantTypes = grantTypesOf(read.grantTypes, rules);
  const usesCode = grantTypes.includes('authorization_code');
  const authMethod = read.authMethod ?? 'client_secret_basic';
  const applicationType = read.applicationType ?? 'web';

  const clientUri = read.clientUri?.[''];
  if (clientUri === undefined && !rules.allowMissingClientUri) throw invalid('client_uri', 'is required');
  for (const uri of Object.values(read.clientUri ?? {})) check('client_uri', pageUriProblem(uri, rules));
  const clientHost = new ClientHost(clientUri);

  const redirectUris = [...new Set(read.redirectUris ?? [])];
  checkRedirectUris(redirectUris, usesCode, (uri) =>
    registeredRedirectUriProblem(uri, applicationType, rules, clientHost),
  );
  const afterLogout = read.afterLogout === undefined ? undefined : [...new Set(read.afterLogout)];
  for (const uri of afterLogout ?? []) {
    const problem = registeredRedirectUriProblem(uri, applicationType, rules, clientHost);
    check('post_logout_redirect_uris', problem);
  }
  if ((afterLogout?.length ?? 0) > MAX_URIS) throw invalid('post_logout_redirect_uris', `may hold ${MAX_URIS} at most`);

  for (const [name, value] of [
    ['logo_uri', read.logoUri],
    ['policy_uri', read.policyUri],
    ['tos_uri', read.tosUri],
  ] as const) {
    for (const uri of Object.values(value ?? {})) check(name, pageUriProblem(uri, rules, clientHost));
  }
  if (read.initiateLoginUri !== undefined) {
    check('initiate_login_uri', pageUriProblem(read.initiateLoginUri, rules, clientHost));
  }
  if (authMethod === 'none' && grantTypes.includes('client_credentials')) {
    throw invalid('grant_types', 'must not hold client_credentials with token_endpoint_auth_method none');
  }
  const idTokenAlg = read.idTokenAlg ?? MANDATORY_ALGORITHM;
  if (!rules.signingAlgorithms.includes(idTokenAlg)) {
    throw invalid('id_token_signed_response_alg', `must be one of ${rules.signingAlgorithms.join(', ')}`);
  }
  refuseUnsupported(members);

  return definedOnly({
    application_type: applicationType,
    token_endpoint_auth_method: authMethod,
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: responseTypesOf(read.responseTypes, usesCode),
    id_token_signed_response_alg: idTokenAlg,
    subject_type: 'public' as const,
    client_name: read.clientName,
    client_uri: read.clientUri,
    logo_uri: read.logoUri,
    policy_uri: read.policyUri,
    tos_uri: read.tosUri,
    contacts: read.contacts,
    initiate_login_uri: read.initiateLoginUri,
    post_logout_redirect_uris: afterLogout,
    scope: read.scope,
    software_id: read.softwareId,
    software_version: read.softwareVersion,
    default_max_age: read.defaultMaxAge,
    require_auth_time: read.requireAuthTime,
    default_acr_values: read.defaultAcrValues,
  });
}

/** Every member whose type is known, so that a wrong one is named whatever else is wrong. */
function readMembers(members: Members) {
  members.strings('request_uris');
  for (const name of UNSUPPORTED_SWITCHES) members.flag(name);
  for (const name of UNSUPPORTED) members.text(name);
  readKeys(members);
  if (members.text('token_endpoint_auth_signing_alg') === 'none') {
    throw invalid('token_endpoint_auth_signing_alg', 'must not be none');
  }
  members.choice('subject_type', ['public']);
  return {
    redirectUris: members.strings('redirect_uris'),
    afterLogout: members.strings('post_logout_redirect_uris'),
    responseTypes: members.strings('response_types'),
    grantTypes: members.strings('grant_types'),
    applicationType: members.choice('application_type', ['web', 'native']),
    authMethod: members.choice('token_endpoint_auth_method', CLIENT_AUTH_METHODS),
    idTokenAlg: members.text('id_token_signed_response_alg'),
    clientName: members.localized('client_name', (name) => requireShowable('client_name', name)),
    clientUri: members.localized('client_uri'),
    logoUri: members.localized('logo_uri'),
    policyUri: members.localized('policy_uri'),
    tosUri: members.localized('tos_uri'),
    contacts: contactsOf(members),
    initiateLoginUri: members.text('initiate_login_uri'),
    scope: scopeOf(members),
    softwareId: members.shown('software_id'),
    softwareVersion: members.shown('software_version'),
    defaultMaxAge: members.seconds('default_max_age'),
    requireAuthTime: members.flag('require_auth_time'),
    defaultAcrValues: acrValuesOf(members),
  };
}

/** RFC 7591 2: the server may replace what was asked for by what it does, and tells the client so. */
function grantTypesOf(asked: readonly string[] | undefined, rules: RegistrationRules): GrantType[] {
  if (asked === undefined) return ['authorization_code'];
  const offered = rules.grantTypes.filter((grantType) => asked.includes(grantType));
  if (offered.length === 0) throw invalid('grant_types', `must hold one of ${rules.grantTypes.join(', ')}`);
  return offered;
}

function responseTypesOf(asked: readonly string[] | undefined, usesCode: boolean): string[] {
  if (asked === undefined) return usesCode ? [...RESPONSE_TYPES] : [];
  const offered = RESPONSE_TYPES.filter((responseType) => asked.includes(responseType));
  if (asked.length > 0 && offered.length === 0)
    throw invalid('response_types', `must hold ${RESPONSE_TYPES.join(', ')}`);
  if (offered.length > 0 && !usesCode) {
    throw invalid('response_types', 'must not hold code without the grant type authorization_code');
  }
  return offered;
}

function checkRedirectUris(
  uris: readonly string[],
  areRequired: boolean,
  problemOf: (uri: string) => string | undefined,
): void {
  const refuse = (description: string) => new LatchkeyError('invalid_redirect_uri', { description });
  if (areRequired && uris.length === 0) throw refuse('redirect_uris must name where answers are sent.');
  if (uris.length > MAX_URIS) throw refuse(`redirect_uris may hold ${MAX_URIS} addresses at most.`);
  for (const [index, uri] of uris.entries()) {
    const problem = problemOf(uri);
    if (problem !== undefined) throw refuse(`redirect_uris[${index}] ${problem}.`);
  }
}

function contactsOf(members: Members): readonly string[] | undefined {
  const contacts = members.strings('contacts');
  if (contacts === undefined) return undefined;
  const isFine = (contact: string) =>
    contact.length > 0 && contact.length <= MAX_CONTACT_CHARACTERS && !UNSHOWABLE.test(contact);
  if (contacts.length > MAX_CONTACTS || !contacts.every(isFine)) {
    throw invalid('contacts', `may hold ${MAX_CONTACTS} addresses of at most ${MAX_CONTACT_CHARACTERS} characters`);
  }
  return contacts;
}

function scopeOf(members: Members): string | undefined {
  const text = members.text('scope');
  if (text === undefined) return undefined;
  const scopes = parseScope(text);
  if (scopes === undefined) throw invalid('scope', 'must hold scope names separated by spaces');
  return scopes.join(' ');
}

function acrValuesOf(members: Members): readonly string[] | undefined {
  const values = members.strings('default_acr_values');
  if (values === undefined) return undefined;
  if (values.length > MAX_ACR_VALUES || values.some((value) => value.length > MAX_NAME_CHARACTERS)) {
    throw invalid(
      'default_acr_values',
      `may hold ${MAX_ACR_VALUES} values of at most ${MAX_NAME_CHARACTERS} characters`,
    );
  }
  return values;
}

/** Keys have no use for the methods that are offered; a client that shows a private one has to be told. */
function readKeys(members: Members): void {
  const uri = members.text('jwks_uri');
  const set = members.get('jwks');
  if (set !== undefined && uri !== undefined) throw invalid('jwks', 'and jwks_uri exclude each other');
  if (uri !== undefined) check('jwks_uri', pageUriProblem(uri, { allowHostMismatch: true, allowInsecureUris: false }));
  if (set === undefined) return;
  const keys = typeof set === 'object' && set !== null ? new Map(Object.entries(set)).get('keys') : undefined;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS)
    throw invalid('jwks', `must hold a list of at most ${MAX_KEYS} keys`);
  const seen = new Set<unknown>();
  for (const key of keys) {
    const ofKey: Map<string, unknown> = new Map(Object.entries(typeof key === 'object' && key !== null ? key : {}));
    if (typeof ofKey.get('kty') !== 'string') throw invalid('jwks', 'holds something that is not a key');
    if (PRIVATE_KEY_MEMBERS.some((name) => ofKey.has(name))) {
      throw invalid('jwks', 'holds a private key: replace that key, and register the public one');
    }
    const kid = ofKey.get('kid');
    if (kid !== undefined && seen.has(kid)) throw invalid('jwks', 'holds two keys with one kid');
    seen.add(kid);
  }
}

/** RFC 7591 3.2.2; nobody's statements are trusted here. */
function refuseStatement(members: Members): void {
  const statement = members.text('software_statement');
  if (statement === undefined) return;
  throw JWT.test(statement)
    ? new LatchkeyError('unapproved_software_statement', { description: 'The issuer of the statement is not trusted.' })
    : new LatchkeyError('invalid_software_statement', { description: 'software_statement must be a JWT.' });
}

function refuseUnsupported(members: Members): void {
  for (const name of UNSUPPORTED) if (members.text(name) !== undefined) throw invalid(name, 'is not supported');
  for (const name of UNSUPPORTED_SWITCHES) if (members.flag(name) === true) throw invalid(name, 'is not supported');
}

function requireShowable(name: string, text: string): void {
  const { length } = [...text];
  if (length === 0 || length > MAX_NAME_CHARACTERS)
    throw invalid(name, `must have 1 to ${MAX_NAME_CHARACTERS} characters`);
  if (UNSHOWABLE.test(text)) throw invalid(name, 'must not hold control characters');
}

function check(name: string, problem: string | undefined): void {
  if (problem !== undefined) throw invalid(name, problem);
}

function invalid(name: string, problem: string): LatchkeyError {
  return new LatchkeyError('invalid_client_metadata', { description: `${name} ${problem}` });
}

type WithoutUndefined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

function definedOnly<T extends object>(members: T): WithoutUndefined<T>;
function definedOnly(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Members of a JSON object by name and type. `null` stands for a member that is absent (RFC 7592 2.2). */
class Members {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(body: object) {
    // Never read as properties: a name may be `__proto__`.
    this.#values = new Map(Object.entries(body).filter(([, value]) => value !== null));
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    if (value !== undefined && typeof value !== 'string') throw invalid(name, 'must be a text');
    return value;
  }

  /** One that people may see. */
  shown(name: string): string | undefined {
    const text = this.text(name);
    if (text !== undefined) requireShowable(name, text);
    return text;
  }

  flag(name: string): boolean | undefined {
    const value = this.#values.get(name);
    if (value !== undefined && typeof value !== 'boolean') throw invalid(name, 'must be true or false');
    return value;
  }

  seconds(name: string): number | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_SECONDS) {
      throw invalid(name, 'must be a whole number of seconds');
    }
    return value;
  }

  strings(name: string): readonly string[] | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw invalid(name, 'must be a list of texts');
    return value.map((element: unknown) => {
      if (typeof element !== 'string') throw invalid(name, 'must be a list of texts');
      return element;
    });
  }

  choice<const Values extends readonly string[]>(name: string, values: Values): Values[number] | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const known = values.find((value) => value === text);
    if (known === undefined) throw invalid(name, `must be one of ${values.join(', ')}`);
    return known;
  }

  /** A text with its variants `name#language-tag` (RFC 7591 2.2). */
  localized(name: string, requireFine: (text: string) => void = () => {}): Localized | undefined {
    const variants = new Map<string, string>();
    const seen = new Set<string>();
    for (const member of this.#values.keys()) {
      if (member !== name && !member.startsWith(`${name}#`)) continue;
      const tag = member.slice(name.length + 1);
      if (member !== name && !LANGUAGE_TAG.test(tag)) throw invalid(name, 'has a variant without a valid language tag');
      if (seen.has(tag.toLowerCase())) throw invalid(name, 'has two variants for one language');
      seen.add(tag.toLowerCase());
      const text = this.text(member) ?? '';
      requireFine(text);
      variants.set(tag, text);
    }
    if (variants.size === 0) return undefined;
    if (!variants.has('')) throw invalid(name, 'is required without a language tag, too');
    if (variants.size > MAX_VARIANTS + 1) throw invalid(name, `may have ${MAX_VARIANTS} variants at most`);
    return Object.fromEntries(variants);
  }
}
