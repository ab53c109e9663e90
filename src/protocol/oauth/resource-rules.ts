/**
 * For which resource servers access tokens may be asked, by the parameter `resource`.
 * @see RFC 8707, oauth 14.4
 */
import type { ScopeRules } from './scopes.ts';

/** A resource server that the operator names. */
export interface Resource {
  /** What clients send as `resource`, and what the resource server finds in `aud`. */
  readonly identifier: string;
  /** Scopes that mean something there. */
  readonly scopes: readonly string[];
  /** With which access tokens for it are signed; undefined: they are opaque. */
  readonly tokenAlgorithm?: string | undefined;
}

export interface TokenFormat {
  /** Of a JWT; undefined: the token is opaque. */
  readonly algorithm: string | undefined;
}

/** In one request. */
export const MAX_RESOURCES = 5;

export class ResourceRules {
  readonly #scopeRules: ScopeRules;
  readonly #own: ReadonlySet<string>;
  readonly #configured: ReadonlyMap<string, Resource>;
  /** Identifiers by `comparable`. */
  readonly #identifiers: ReadonlyMap<string, string>;

  /** @param own identifiers of this service */
  constructor(scopeRules: ScopeRules, own: readonly string[], configured: readonly Resource[]) {
    this.#scopeRules = scopeRules;
    this.#own = new Set(own);
    this.#configured = new Map(configured.map((resource) => [resource.identifier, resource]));
    const identifiers = [...own, ...this.#configured.keys()];
    this.#identifiers = new Map(identifiers.map((identifier) => [comparable(identifier), identifier]));
  }

  /** The identifiers that a request names, as they are configured; undefined when one of them is not accepted here. */
  accepted(values: readonly string[]): readonly string[] | undefined {
    const identifiers = values.map((value) => this.#identifiers.get(comparable(value)));
    const known = [...new Set(identifiers.filter((identifier) => identifier !== undefined))];
    return identifiers.includes(undefined) || known.length > MAX_RESOURCES ? undefined : known;
  }

  /** For a comparison with what was granted: as they are configured, unknown ones as they were sent. */
  spelled(values: readonly string[]): readonly string[] {
    return [...new Set(values.map((value) => this.#identifiers.get(comparable(value)) ?? value))];
  }

  /** Those that people are told of by name; this service itself is none. */
  shown(identifiers: readonly string[]): readonly string[] {
    return identifiers.filter((identifier) => !this.#own.has(identifier));
  }

  /** What a request for these resources asks for that names no scope; undefined: no scope is configured for them. */
  defaultScope(identifiers: readonly string[]): readonly string[] | undefined {
    const scopes = identifiers.flatMap((identifier) => this.#configured.get(identifier)?.scopes ?? []);
    return scopes.length === 0 ? undefined : [...new Set(scopes)];
  }

  /** As they are configured, for the log. */
  get identifiers(): readonly string[] {
    return [...this.#identifiers.values()];
  }

  /**
   * What an access token for these resources looks like. A JWT needs one algorithm that all of them expect; this service
   * itself takes opaque tokens only. `mixed`: no token suits all of them.
   */
  formatOf(identifiers: readonly string[]): TokenFormat | 'mixed' {
    const [algorithm, ...others] = new Set(identifiers.map((one) => this.#configured.get(one)?.tokenAlgorithm));
    return others.length > 0 ? 'mixed' : { algorithm };
  }

  /**
   * What of a granted scope a token for these resources carries: a resource server that is shown a token must not be
   * able to use it elsewhere (RFC 8707 3). A token without resources carries everything.
   */
  scopeAt(identifiers: readonly string[], scope: readonly string[]): readonly string[] {
    if (identifiers.length === 0) return scope;
    const isOwn = identifiers.some((identifier) => this.#own.has(identifier));
    const there = new Set(identifiers.flatMap((identifier) => this.#configured.get(identifier)?.scopes ?? []));
    return scope.filter((name) => {
      const kind = this.#scopeRules.classify(name);
      if (kind === 'resource') return there.has(name);
      const isAboutPerson = kind === 'openid' || kind === 'claims' || kind === 'offline-access';
      return isAboutPerson || isOwn;
    });
  }
}

/** Libraries that read an address as a URL add the slash of an empty path (RFC 3986 6.2.3), or leave a final one out. */
export function comparable(identifier: string): string {
  return identifier.endsWith('/') ? identifier.slice(0, -1) : identifier;
}
