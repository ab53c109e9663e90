/**
 * What a scope is, and which sets of them make sense (oauth 14). Names depend on the protocol name `P`; some scopes
 * have two spellings, which are one scope: either is accepted, and the one asked for is kept.
 */
import { chatNames } from '../chat/names.ts';

const MAX_CHARACTERS = 2048;
const MAX_SCOPES = 50;
/** RFC 6749 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;
const DEVICE_ID = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]{10,255}$/;

/**
 * `homeserver-admin` and `admin` ask for someone who may administer; `account` lets the holder manage the account by
 * GraphQL, where the operator lets tokens do that; `chat-device` names the session's device;
 * `resource` means something to a resource server that the operator named.
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
 * Reads a scope parameter: tokens separated by one or more spaces, duplicates folded, in the order given. Undefined
 * when the syntax is wrong, nothing is named, or it is longer than 2,048 characters or 50 tokens.
 */
export function parseScope(text: string): readonly string[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const tokens = text.split(' ').filter((token) => token !== '');
  if (tokens.length === 0 || tokens.length > MAX_SCOPES) return undefined;
  if (!tokens.every((token) => SCOPE_TOKEN.test(token))) return undefined;
  return [...new Set(tokens)];
}

/**
 * Whether a scope has a meaning of this service, under whatever protocol name, and so cannot be one of a resource
 * server: the consent page would hide it, or say something else about it.
 */
export function isReservedScope(scope: string): boolean {
  return FIXED_KINDS.has(scope) || RESERVED_SCOPE.test(scope);
}

const RESERVED_SCOPE = /^urn:(?:latchkey|mas|synapse):|^urn:[a-z0-9]+:(?:org\.[a-z0-9]+\.msc2967\.)?client:/;

/** What the discovery document names; scopes of devices and for administrators are left out. */
export function publishedScopes(protocolName: string, resourceScopes: readonly string[] = []): readonly string[] {
  const { stableScopePrefix: stable, unstableScopePrefix: unstable } = chatNames(protocolName);
  const own = ['openid', 'email', 'profile', 'groups', 'offline_access', `${stable}api:*`, `${unstable}api:*`];
  return [...own, ...new Set(resourceScopes)];
}

/** Says why a client that takes only bound tokens gets no scope of the homeserver. */
export const UNBOUND_SCOPE = 'tokens for the homeserver cannot be bound to a key, as dpop_bound_access_tokens asks';

/** What decides which scopes a client may have for itself. */
export interface ClientScopeOptions {
  /** Its maximum; undefined: no restriction. */
  readonly registered: readonly string[] | undefined;
  readonly mayAdminister: boolean;
  /** Configured by the operator. */
  readonly isStatic: boolean;
}

export class ScopeRules {
  readonly #stableApi: string;
  readonly #unstableApi: string;
  readonly #stableDevice: string;
  readonly #unstableDevice: string;
  readonly #resourceScopes: ReadonlySet<string>;
  /** The client API of the homeserver, in both spellings. */
  readonly clientApi: readonly string[];
  /** A session with one of them stays when the browser session that it grew out of is signed out (oauth 17.2). */
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

  /** Undefined for a scope that means nothing here. A device scope is one whatever its device id looks like. */
  classify(scope: string): ScopeKind | undefined {
    if (scope === this.#stableApi || scope === this.#unstableApi) return 'chat-api';
    if (scope.startsWith(this.#stableDevice) || scope.startsWith(this.#unstableDevice)) return 'chat-device';
    return FIXED_KINDS.get(scope) ?? (this.#resourceScopes.has(scope) ? 'resource' : undefined);
  }

  /** Whether it is for people who may administer, this service or the homeserver. */
  isAdmin(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'admin' || kind === 'homeserver-admin';
  }

  /** Tells the client who signs in, and nothing more. */
  isIdentity(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'openid' || kind === 'claims';
  }

  /** The full client API of the homeserver, or a device there. */
  isChat(scope: string): boolean {
    const kind = this.classify(scope);
    return kind === 'chat-api' || kind === 'chat-device';
  }

  /** Whether it holds scopes of the homeserver, which takes a token from anybody who has it. */
  hasUnboundScope(scopes: readonly string[]): boolean {
    return scopes.some((scope) => this.isChat(scope) || this.classify(scope) === 'homeserver-admin');
  }

  /** The one spelling that stands for both; for comparisons. */
  canonical(scope: string): string {
    if (scope === 'urn:mas:admin') return 'urn:latchkey:admin';
    if (scope === 'urn:mas:graphql:*') return 'urn:latchkey:graphql:*';
    if (scope === this.#unstableApi) return this.#stableApi;
    if (scope.startsWith(this.#unstableDevice)) return this.#stableDevice + scope.slice(this.#unstableDevice.length);
    return scope;
  }

  /** Whether every scope, in either spelling, is among the granted ones. */
  isCovered(scopes: readonly string[], granted: readonly string[]): boolean {
    const known = new Set(granted.map((scope) => this.canonical(scope)));
    return scopes.every((scope) => known.has(this.canonical(scope)));
  }

  /**
   * What remains of a request on behalf of a person: without scopes unknown here or beyond the client's registered
   * ones. The answer's `scope` tells the client (OpenID Connect Core 3.1.2.1).
   * @param registered the client's maximum; undefined: no restriction
   */
  filterForUser(scopes: readonly string[], registered: readonly string[] | undefined): readonly string[] {
    return scopes.filter((scope) => this.classify(scope) !== undefined && this.#isWithin(scope, registered));
  }

  /**
   * What a client is granted for itself (client_credentials): `offline_access` has no meaning there and is dropped;
   * undefined when any other scope may not be had, since then nothing is granted.
   */
  filterForClient(scopes: readonly string[], options: ClientScopeOptions): readonly string[] | undefined {
    const kept = scopes.filter((scope) => this.classify(scope) !== 'offline-access');
    return kept.every((scope) => this.#isForClient(scope, options)) ? kept : undefined;
  }

  /**
   * What is wrong with a set, no matter who asks for it, as a sentence for the developer; undefined when it makes sense.
   * Call it on the set as requested, before filtering.
   * @param hasPairwiseSubjects the client must not learn the identifiers of accounts
   */
  setProblem(scopes: readonly string[], hasPairwiseSubjects: boolean): string | undefined {
    const telling = hasPairwiseSubjects ? scopes.find((scope) => this.#tellsAccountId(scope)) : undefined;
    if (telling !== undefined) return `a client with pairwise subjects cannot have ${telling}, which tells account ids`;
    const chat = scopes.filter((scope) => this.isChat(scope));
    const devices = chat.filter((scope) => this.classify(scope) === 'chat-device');
    if (devices.length > 1) return 'only one device scope may be asked for';
    if (new Set(chat.map((scope) => this.canonical(scope) === scope)).size > 1) {
      return 'stable and unstable names of the client API scopes must not be mixed';
    }
    if (devices.length === 1 && chat.length === 1) return 'a device scope needs the client API scope';
    const deviceId = this.deviceIdOf(scopes);
    if (deviceId !== undefined && !DEVICE_ID.test(deviceId)) {
      return 'the device id must have 10 to 255 of the characters that the client API allows';
    }
    return undefined;
  }

  /** The device that a granted set names. */
  deviceIdOf(scopes: readonly string[]): string | undefined {
    const scope = scopes.find((candidate) => this.classify(candidate) === 'chat-device');
    return scope === undefined ? undefined : this.#deviceId(scope);
  }

  /** The set as introspection shows it: client API and device scopes in both spellings. */
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

  #isForClient(scope: string, { registered, mayAdminister, isStatic }: ClientScopeOptions): boolean {
    const kind = this.classify(scope);
    // No person agrees to it: only where the operator wrote it down for this client, since others register themselves.
    if (kind === 'resource') return isStatic && registered !== undefined && this.isCovered([scope], registered);
    // The operator lists the clients that may have these: no person agrees to them.
    const isTrusted = (kind === 'admin' || kind === 'account') && mayAdminister;
    const mayHave = kind === 'openid' || kind === 'claims' || isTrusted;
    return mayHave && this.#isWithin(scope, registered);
  }

  #isWithin(scope: string, registered: readonly string[] | undefined): boolean {
    if (registered === undefined) return true;
    // A device is made up for each sign-in, so no registration can name it: it comes with the client API, and never alone.
    return this.isCovered([this.classify(scope) === 'chat-device' ? this.#stableApi : scope], registered);
  }
}
