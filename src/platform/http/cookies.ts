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

/** What one cookie is called and how long a browser keeps it. */
export interface Cookie {
  /** Goes out with the prefix of the service before it. */
  readonly name: string;
  /** `Max-Age`; without it the cookie ends with the browser. 400 days is the most that browsers keep (RFC 6265bis). */
  readonly maxAgeSeconds?: number;
}

/**
 * The sealed cookies of the service: each value is a JSON document under AES-256-GCM, with a key of its own for each
 * name, so that one cookie's value is worth nothing in another.
 */
export class Cookies {
  readonly #keys: KeyRing;
  readonly #log: Log;
  readonly #prefix: string;
  readonly #securityPrefix: string;
  readonly #attributes: string;

  /**
   * @param options `prefix`: before every name, since the ports of a host share its cookies and names such as `session`
   *   are defaults of web frameworks
   */
  constructor(options: { keys: KeyRing; address: PublicAddress; log: Log; prefix: string }) {
    const { basePath, isHttps } = options.address;
    this.#keys = options.keys;
    this.#log = options.log;
    this.#prefix = options.prefix;
    // Keeps other hosts from writing them.
    if (!isHttps) this.#securityPrefix = '';
    else this.#securityPrefix = basePath === '/' ? '__Host-' : '__Secure-';
    this.#attributes = `; Path=${basePath}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** The cookies of one request. @param header its `Cookie` header */
  jar(header: string | undefined): CookieJar {
    return new CookieJar(this, header);
  }

  /** The document in one received value; undefined when it was not sealed by us under this name. */
  unseal(cookie: Cookie, value: string): { readonly document: unknown } | undefined {
    const opened = this.#keys.open(label(cookie), Buffer.from(value, 'base64url'));
    return opened === undefined ? undefined : { document: JSON.parse(opened.toString()) };
  }

  reportInvalid(wireName: string): void {
    this.#log.debug('http.cookie.invalid', 'a cookie could not be opened', { cookie: wireName });
  }

  /** The value to send for a document. */
  seal(cookie: Cookie, document: JsonValue): string {
    return this.#keys.seal(label(cookie), JSON.stringify(document)).toString('base64url');
  }

  /** A `Set-Cookie` value. */
  serialize(wireName: string, sealed: string, maxAgeSeconds: number | undefined): string {
    const lifetime = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
    return `${wireName}=${sealed}${this.#attributes}${lifetime}`;
  }

  /** A `Set-Cookie` value that deletes. */
  serializeDeletion(wireName: string): string {
    return this.serialize(wireName, '', 0);
  }

  wireName(cookie: Cookie): string {
    return this.#securityPrefix + this.#prefix + cookie.name;
  }

  /** What the first version called it; read so that an upgrade signs nobody out. */
  formerWireName(cookie: Cookie): string {
    return this.#securityPrefix + cookie.name;
  }
}

/**
 * What one request brought and what its answer changes. A cookie that cannot be opened counts as absent and is
 * deleted by the answer.
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

  /** The document as received, or as set since; undefined when there is none that we wrote. */
  open(cookie: Cookie): unknown {
    if (!this.#documents.has(cookie.name)) this.#documents.set(cookie.name, this.#openReceived(cookie));
    return this.#documents.get(cookie.name);
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

  /** `Set-Cookie` values of the answer. */
  changes(): string[] {
    return [...this.#changes.values()];
  }

  #openReceived(cookie: Cookie): unknown {
    const wireName = this.#cookies.wireName(cookie);
    const received = receivedValues(this.#header, wireName);
    if (received.length === 0) return this.#adoptFormer(cookie);
    const opened = received.flatMap((value) => this.#cookies.unseal(cookie, value) ?? []);
    if (opened.length < received.length) this.#cookies.reportInvalid(wireName);
    // One of two that open may have been planted by a neighbouring host, and nothing tells which: neither counts.
    // Nor is either deleted then, since that would remove ours and leave the other.
    if (opened.length === 1) return opened[0]?.document;
    if (opened.length === 0) this.#delete(wireName);
    return undefined;
  }

  /**
   * Copies a cookie under its former name to the present one. It stays until it is written the next time, so that
   * instances of the version before understand the browser during an upgrade.
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

  // What does not open is another program's cookie on the same host, and not ours to delete.
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
