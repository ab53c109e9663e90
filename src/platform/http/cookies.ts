import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { PublicAddress } from './http-options.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** Name and lifetime of a cookie. */
export interface Cookie {
  /** Sent with the service's prefix. */
  readonly name: string;
  /** `Max-Age`. Without it, the cookie expires when the browser closes. Browsers limit it to 400 days (RFC 6265bis). */
  readonly maxAgeSeconds?: number;
}

/**
 * The encrypted cookies of the service. Each value is a JSON document sealed with AES-256-GCM. Each name has its own
 * key, so the value of one cookie is useless in another.
 */
export class Cookies {
  readonly #keys: KeyRing;
  readonly #log: Log;
  readonly #prefix: string;
  readonly #securityPrefix: string;
  readonly #attributes: string;

  /**
   * @param options `prefix`: prepended to every name, because all ports of a host share cookies, and web frameworks use
   * common names like `session` by default
   */
  constructor(options: { keys: KeyRing; address: PublicAddress; log: Log; prefix: string }) {
    const { basePath, isHttps } = options.address;
    this.#keys = options.keys;
    this.#log = options.log;
    this.#prefix = options.prefix;
    // Prevents other hosts from setting the cookies.
    if (!isHttps) this.#securityPrefix = '';
    else this.#securityPrefix = basePath === '/' ? '__Host-' : '__Secure-';
    this.#attributes = `; Path=${basePath}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** Returns the cookies of one request. @param header its `Cookie` header */
  jar(header: string | undefined): CookieJar {
    return new CookieJar(this, header);
  }

  /** Decrypts a received value. Returns undefined if we did not seal it under this name. */
  unseal(cookie: Cookie, value: string): { readonly document: unknown } | undefined {
    const opened = this.#keys.open(label(cookie), Buffer.from(value, 'base64url'));
    return opened === undefined ? undefined : { document: JSON.parse(opened.toString()) };
  }

  reportInvalid(wireName: string): void {
    this.#log.debug('http.cookie.invalid', 'cookie could not be decrypted', { cookie: wireName });
  }

  /** Encrypts a document for a cookie value. */
  seal(cookie: Cookie, document: JsonValue): string {
    return this.#keys.seal(label(cookie), JSON.stringify(document)).toString('base64url');
  }

  /** Formats a `Set-Cookie` value. */
  serialize(wireName: string, sealed: string, maxAgeSeconds: number | undefined): string {
    const lifetime = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
    return `${wireName}=${sealed}${this.#attributes}${lifetime}`;
  }

  /** Formats a `Set-Cookie` value that deletes the cookie. */
  serializeDeletion(wireName: string): string {
    return this.serialize(wireName, '', 0);
  }

  wireName(cookie: Cookie): string {
    return this.#securityPrefix + this.#prefix + cookie.name;
  }

  /** The name in the first version. Still read, so that an upgrade does not sign users out. */
  formerWireName(cookie: Cookie): string {
    return this.#securityPrefix + cookie.name;
  }
}

/**
 * The cookies received with a request, and the changes made by its response. A cookie that cannot be decrypted counts
 * as absent, and the response deletes it.
 */
export class CookieJar {
  readonly #cookies: Cookies;
  readonly #header: string | undefined;
  readonly #documents = new Map<string, unknown>();
  readonly #changes = new Map<string, string>();

  constructor(cookies: Cookies, header: string | undefined) {
    this.#cookies = cookies;
    this.#header = header;
  }

  /** Returns the document as received or as set since. Returns undefined if there is none that we wrote. */
  open(cookie: Cookie): unknown {
    if (!this.#documents.has(cookie.name)) this.#documents.set(cookie.name, this.#openReceived(cookie));
    return this.#documents.get(cookie.name);
  }

  /** Returns the values of a cookie of another program on this host, as received. */
  received(wireName: string): readonly string[] {
    return receivedValues(this.#header, wireName);
  }

  set(cookie: Cookie, value: JsonValue): void {
    this.#documents.set(cookie.name, value);
    this.#write(cookie, this.#cookies.seal(cookie, value));
    this.#deleteFormer(cookie);
  }

  /** Deletes the cookie from the browser. */
  clear(cookie: Cookie): void {
    this.#documents.set(cookie.name, undefined);
    this.#delete(this.#cookies.wireName(cookie));
    this.#deleteFormer(cookie);
  }

  /** `Set-Cookie` values for the response. */
  changes(): string[] {
    return [...this.#changes.values()];
  }

  #openReceived(cookie: Cookie): unknown {
    const wireName = this.#cookies.wireName(cookie);
    const received = receivedValues(this.#header, wireName);
    if (received.length === 0) return this.#adoptFormer(cookie);
    const opened = received.flatMap((value) => this.#cookies.unseal(cookie, value) ?? []);
    if (opened.length < received.length) this.#cookies.reportInvalid(wireName);
    // If two values can be decrypted, a neighboring host may have planted one. They are indistinguishable, so both are
    // ignored. They are not deleted either, since that would remove ours and leave the other.
    if (opened.length === 1) return opened[0]?.document;
    if (opened.length === 0) this.#delete(wireName);
    return undefined;
  }

  /**
   * Copies a cookie from its former name to the current one. The former cookie remains until the next write, so that
   * instances of the previous version recognize the browser during an upgrade.
   */
  #adoptFormer(cookie: Cookie): unknown {
    const [former, another] = this.#openFormer(cookie);
    if (former === undefined || another !== undefined) return undefined;
    this.#write(cookie, former.value);
    return former.document;
  }

  #deleteFormer(cookie: Cookie): void {
    if (this.#openFormer(cookie).length > 0) this.#delete(this.#cookies.formerWireName(cookie));
  }

  // Values that cannot be decrypted belong to another program on the same host and must not be deleted.
  #openFormer(cookie: Cookie): { readonly value: string; readonly document: unknown }[] {
    return receivedValues(this.#header, this.#cookies.formerWireName(cookie)).flatMap((value) => {
      const opened = this.#cookies.unseal(cookie, value);
      return opened === undefined ? [] : [{ value, document: opened.document }];
    });
  }

  #write(cookie: Cookie, sealed: string): void {
    const wireName = this.#cookies.wireName(cookie);
    this.#changes.set(wireName, this.#cookies.serialize(wireName, sealed, cookie.maxAgeSeconds));
  }

  #delete(wireName: string): void {
    this.#changes.set(wireName, this.#cookies.serializeDeletion(wireName));
  }
}

function label(cookie: Cookie): string {
  return `cookie/${cookie.name}`;
}

function receivedValues(header: string | undefined, wireName: string): string[] {
  if (header === undefined || !header.includes(wireName)) return [];
  const start = `${wireName}=`;
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length));
}
