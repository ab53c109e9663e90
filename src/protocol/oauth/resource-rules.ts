/**
 * Resource servers that clients may request access tokens for, with the parameter `resource`.
 * @see RFC 8707, oauth 14.4
 */
import type { ScopeRules } from './scopes.ts';

/** A resource server configured by the operator. */
export interface Resource {
  /** The value of `resource` in requests and of `aud` in tokens. */
  readonly identifier: string;
  /** Scopes of the resource server. */
  readonly scopes: readonly string[];
  /** Signature algorithm of its access tokens; undefined for opaque tokens. */
  readonly tokenAlgorithm?: string | undefined;
}

export interface TokenFormat {
  /** Signature algorithm of a JWT; undefined for an opaque token. */
  readonly algorithm: string | undefined;
}

/** Limit per request. */
export const MAX_RESOURCES = 5;

export class ResourceRules {
  readonly #scopeRules: ScopeRules;
  readonly #own: ReadonlySet<string>;
  readonly #configured: ReadonlyMap<string, Resource>;
  /** Identifiers by `comparable` form. */
  readonly #identifiers: ReadonlyMap<string, string>;

  /** @param own identifiers of this server */
  constructor(scopeRules: ScopeRules, own: readonly string[], configured: readonly Resource[]) {
    this.#scopeRules = scopeRules;
    this.#own = new Set(own);
    this.#configured = new Map(configured.map((resource) => [resource.identifier, resource]));
    const identifiers = [...own, ...this.#configured.keys()];
    this.#identifiers = new Map(identifiers.map((identifier) => [comparable(identifier), identifier]));
  }

  /** Returns the requested identifiers in their configured spelling; undefined if one of them is not accepted. */
  accepted(values: readonly string[]): readonly string[] | undefined {
    const identifiers = values.map((value) => this.#identifiers.get(comparable(value)));
    const known = [...new Set(identifiers.filter((identifier) => identifier !== undefined))];
    return identifiers.includes(undefined) || known.length > MAX_RESOURCES ? undefined : known;
  }

  /** Returns identifiers for comparison with a grant: in their configured spelling, and unknown ones as sent. */
  spelled(values: readonly string[]): readonly string[] {
    return [...new Set(values.map((value) => this.#identifiers.get(comparable(value)) ?? value))];
  }

  /** Returns the identifiers to show to users, without those of this server. */
  shown(identifiers: readonly string[]): readonly string[] {
    return identifiers.filter((identifier) => !this.#own.has(identifier));
  }

  /** Returns the default scope of a request for these resources; undefined if they have no configured scopes. */
  defaultScope(identifiers: readonly string[]): readonly string[] | undefined {
    const scopes = identifiers.flatMap((identifier) => this.#configured.get(identifier)?.scopes ?? []);
    return scopes.length === 0 ? undefined : [...new Set(scopes)];
  }

  /** Identifiers in their configured spelling, for the log. */
  get identifiers(): readonly string[] {
    return [...this.#identifiers.values()];
  }

  /**
   * Returns the format of an access token for these resources. A JWT needs one algorithm that all of them expect. This
   * server itself accepts opaque tokens only. `mixed`: no token works for all of them.
   */
  formatOf(identifiers: readonly string[]): TokenFormat | 'mixed' {
    const [algorithm, ...others] = new Set(identifiers.map((one) => this.#configured.get(one)?.tokenAlgorithm));
    return others.length > 0 ? 'mixed' : { algorithm };
  }

  /**
   * Returns the part of a granted scope that a token for these resources gets. A resource server that receives a token
   * must not be able to use it elsewhere (RFC 8707 3). A token without resources gets the whole scope.
   */
  scopeAt(identifiers: readonly string[], scope: readonly string[]): readonly string[] {
    if (identifiers.length === 0) return scope;
    const isOwn = identifiers.some((identifier) => this.#own.has(identifier));
    const there = new Set(identifiers.flatMap((identifier) => this.#configured.get(identifier)?.scopes ?? []));
    return scope.filter((name) => {
      const kind = this.#scopeRules.classify(name);
      if (kind === 'resource') return there.has(name);
      const isAboutUser = kind === 'openid' || kind === 'claims' || kind === 'offline-access';
      return isAboutUser || isOwn;
    });
  }
}

/**
 * Libraries that parse identifiers as URLs add the slash of an empty path (RFC 3986 6.2.3) or remove a trailing one.
 */
export function comparable(identifier: string): string {
  return identifier.endsWith('/') ? identifier.slice(0, -1) : identifier;
}
