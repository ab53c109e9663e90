/**
 * Scopes and valid combinations of them (oauth 14). Names depend on the protocol name `P`. Some scopes have two
 * spellings: either is accepted, and the requested one is kept.
 */
import { chatNames } from '../chat/names.ts';

const MAX_CHARACTERS = 2048;
const MAX_SCOPES = 50;
/** RFC 6749 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;
const DEVICE_ID = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]{10,255}$/;

/**
 * `homeserver-admin` and `admin` require an administrator. `account` allows managing the account through GraphQL, if
 * the operator allows that for tokens. `chat-device` identifies the session's device. `resource` belongs to a
 * configured resource server.
 */
export type ScopeKind =
  | 'openid'
  | 'claims'
  | 'offline-access'
  | 'chat-api'
  | 'chat-device'
  | 'homeserver-admin'
  | 'admin'
  | 'account'
  | 'resource';

const FIXED_KINDS = new Map<string, ScopeKind>([
  ['openid', 'openid'],
  ['email', 'claims'],
  ['profile', 'claims'],
  ['groups', 'claims'],
  ['offline_access', 'offline-access'],
  ['urn:synapse:admin:*', 'homeserver-admin'],
  ['urn:latchkey:admin', 'admin'],
  ['urn:latchkey:graphql:*', 'account'],
  ['urn:mas:admin', 'admin'],
  ['urn:mas:graphql:*', 'account'],
]);

/**
 * Parses a scope parameter: tokens separated by spaces, without duplicates, in the given order. Undefined if it is
 * malformed, empty, or longer than 2,048 characters or 50 tokens.
 */
export function parseScope(text: string): readonly string[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const tokens = text.split(' ').filter((token) => token !== '');
  if (tokens.length === 0 || tokens.length > MAX_SCOPES) return undefined;
  if (!tokens.every((token) => SCOPE_TOKEN.test(token))) return undefined;
  return [...new Set(tokens)];
}

/**
 * Returns whether a scope has a meaning of its own here, with any protocol name. A resource server cannot use it,
 * because the consent page would hide it or describe it wrongly.
 */
export function isReservedScope(scope: string): boolean {
  return FIXED_KINDS.has(scope) || RESERVED_SCOPE.test(scope);
}

const RESERVED_SCOPE = /^urn:(?:latchkey|mas|synapse):|^urn:[a-z0-9]+:(?:org\.[a-z0-9]+\.msc2967\.)?client:/;

/** Returns the scopes for the discovery document, without those for devices and administrators. */
export function publishedScopes(protocolName: string, resourceScopes: readonly string[] = []): readonly string[] {
  const { stableScopePrefix: stable, unstableScopePrefix: unstable } = chatNames(protocolName);
  const own = ['openid', 'email', 'profile', 'groups', 'offline_access', `${stable}api:*`, `${unstable}api:*`];
  return [...own, ...new Set(resourceScopes)];
}

/** Explains why a client that accepts only bound tokens gets no homeserver scope. */
export const UNBOUND_SCOPE =
  'tokens for the homeserver cannot be bound to a key, which dpop_bound_access_tokens requires';

/** What determines which scopes a client may have for itself. */
export interface ClientScopeOptions {
  /** The client's maximum; undefined for no restriction. */
  readonly registered: readonly string[] | undefined;
  readonly mayAdminister: boolean;
  /** Set up by an operator or administrator. */
  readonly isVouchedFor: boolean;
}

export class ScopeRules {
  readonly #stableApi: string;
  readonly #unstableApi: string;
  readonly #stableDevice: string;
  readonly #unstableDevice: string;
  readonly #resourceScopes: ReadonlySet<string>;
  /** The client API of the homeserver, in both spellings. */
  readonly clientApi: readonly string[];
  /** A session with one of these scopes continues when its browser session is signed out (oauth 17.2). */
  readonly outlivingSignOut: readonly string[];

  /**
   * @param protocolName `P` of the scope names, for example `chat`
   * @param resourceScopes scopes of the configured resource servers
   */
  constructor(protocolName: string, resourceScopes: readonly string[] = []) {
    this.#resourceScopes = new Set(resourceScopes);
    const { stableScopePrefix: stable, unstableScopePrefix: unstable } = chatNames(protocolName);
    this.#stableApi = `${stable}api:*`;
    this.#unstableApi = `${unstable}api:*`;
    this.clientApi = [this.#stableApi, this.#unstableApi];
    this.outlivingSignOut = ['offline_access', ...this.clientApi];
    this.#stableDevice = `${stable}device:`;
    this.#unstableDevice = `${unstable}device:`;
  }

  /** Returns the kind of a scope; undefined if it is unknown. Device scopes are recognized whatever their device ID. */
  classify(scope: string): ScopeKind | undefined {
    if (scope === this.#stableApi || scope === this.#unstableApi) return 'chat-api';
    if (scope.startsWith(this.#stableDevice) || scope.startsWith(this.#unstableDevice)) return 'chat-device';
    return FIXED_KINDS.get(scope) ?? (this.#resourceScopes.has(scope) ? 'resource' : undefined);
  }

  /** Returns whether the scope is for administrators of this server or the homeserver. */
  isAdmin(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'admin' || kind === 'homeserver-admin';
  }

  /** Returns whether the scope only identifies the user. */
  isIdentity(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'openid' || kind === 'claims';
  }

  /** Returns whether the scope is for the full client API of the homeserver, or for a device there. */
  isChat(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'chat-api' || kind === 'chat-device';
  }

  /** Returns whether the scopes include any of the homeserver, which accepts a token from whoever has it. */
  hasUnboundScope(scopes: readonly string[]): boolean {
    return scopes.some((scope) => this.isChat(scope) || this.classify(scope) === 'homeserver-admin');
  }

  /** Returns the canonical spelling, for comparisons. */
  canonical(scope: string): string {
    if (scope === 'urn:mas:admin') return 'urn:latchkey:admin';
    if (scope === 'urn:mas:graphql:*') return 'urn:latchkey:graphql:*';
    if (scope === this.#unstableApi) return this.#stableApi;
    if (scope.startsWith(this.#unstableDevice)) return this.#stableDevice + scope.slice(this.#unstableDevice.length);
    return scope;
  }

  /** Returns whether every scope, in either spelling, is among the granted ones. */
  isCovered(scopes: readonly string[], granted: readonly string[]): boolean {
    const known = new Set(granted.map((scope) => this.canonical(scope)));
    return scopes.every((scope) => known.has(this.canonical(scope)));
  }

  /**
   * Removes scopes that are unknown or not registered for the client from a request on behalf of a user. The response's
   * `scope` shows the client what is left (OpenID Connect Core 3.1.2.1).
   * @param registered the client's maximum; undefined for no restriction
   */
  filterForUser(scopes: readonly string[], registered: readonly string[] | undefined): readonly string[] {
    return scopes.filter((scope) => this.classify(scope) !== undefined && this.#isWithin(scope, registered));
  }

  /**
   * Returns what a client is granted for itself (client_credentials). `offline_access` has no meaning there and is
   * dropped. Undefined if any other scope is not allowed, since nothing is granted then.
   */
  filterForClient(scopes: readonly string[], options: ClientScopeOptions): readonly string[] | undefined {
    const kept = scopes.filter((scope) => this.classify(scope) !== 'offline-access');
    return kept.every((scope) => this.#isForClient(scope, options)) ? kept : undefined;
  }

  /**
   * Returns what is wrong with a set of scopes, whoever requests it, as a sentence for the developer; undefined if it
   * is valid. Call it on the set as requested, before filtering.
   * @param hasPairwiseSubjects the client must not learn account IDs
   */
  setProblem(scopes: readonly string[], hasPairwiseSubjects: boolean): string | undefined {
    const telling = hasPairwiseSubjects ? scopes.find((scope) => this.#tellsAccountId(scope)) : undefined;
    if (telling !== undefined)
      return `a client with pairwise subjects cannot have ${telling}, which reveals account IDs`;
    const chat = scopes.filter((scope) => this.isChat(scope));
    const devices = chat.filter((scope) => this.classify(scope) === 'chat-device');
    if (devices.length > 1) return 'only one device scope may be requested';
    if (new Set(chat.map((scope) => this.canonical(scope) === scope)).size > 1) {
      return 'stable and unstable names of the client API scopes must not be mixed';
    }
    if (devices.length === 1 && chat.length === 1) return 'a device scope requires the client API scope';
    const deviceId = this.deviceIdOf(scopes);
    if (deviceId !== undefined && !DEVICE_ID.test(deviceId)) {
      return 'the device ID must have 10 to 255 characters that the client API allows';
    }
    return undefined;
  }

  /** Returns the device in a granted set. */
  deviceIdOf(scopes: readonly string[]): string | undefined {
    const scope = scopes.find((candidate) => this.classify(candidate) === 'chat-device');
    return scope === undefined ? undefined : this.#deviceId(scope);
  }

  /** Returns the set for introspection, with client API and device scopes in both spellings. */
  normalizeForIntrospection(scopes: readonly string[]): readonly string[] {
    const both: string[] = [];
    const add = (scope: string): void => {
      if (!both.includes(scope)) both.push(scope);
    };
    for (const scope of scopes) {
      add(scope);
      if (scope === this.#stableApi || scope === this.#unstableApi) {
        add(scope === this.#stableApi ? this.#unstableApi : this.#stableApi);
      } else if (scope.startsWith(this.#stableDevice)) {
        add(this.#unstableDevice + this.#deviceId(scope));
      } else if (scope.startsWith(this.#unstableDevice)) {
        add(this.canonical(scope));
      }
    }
    return both;
  }

  #tellsAccountId(scope: string): boolean {
    return this.isChat(scope) || this.isAdmin(scope) || this.classify(scope) === 'account';
  }

  #deviceId(scope: string): string {
    return this.canonical(scope).slice(this.#stableDevice.length);
  }

  #isForClient(scope: string, { registered, mayAdminister, isVouchedFor }: ClientScopeOptions): boolean {
    const kind = this.classify(scope);
    // No user consents here, so the operator must have configured it for this client. Other clients register
    // themselves.
    if (kind === 'resource') return isVouchedFor && registered !== undefined && this.isCovered([scope], registered);
    // The operator lists the clients that may have these, because no user consents.
    const isTrusted = (kind === 'admin' || kind === 'account') && mayAdminister;
    const mayHave = kind === 'openid' || kind === 'claims' || isTrusted;
    return mayHave && this.#isWithin(scope, registered);
  }

  #isWithin(scope: string, registered: readonly string[] | undefined): boolean {
    if (registered === undefined) return true;
    // Clients generate a device ID per sign-in, so none can be registered. It is allowed along with the client API.
    return this.isCovered([this.classify(scope) === 'chat-device' ? this.#stableApi : scope], registered);
  }
}
