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

/**
 * Base names. All go out as `latchkey_<name>`, since the ports of a host share its cookies and names such as `session`
 * are defaults of web frameworks; on https a prefix before that keeps other hosts from writing them.
 */
export type CookieName =
  | 'session'
  | 'csrf'
  | 'login'
  | 'registrations'
  | 'upstream'
  | 'recoveries'
  | 'grants'
  | 'known'
  | 'lang';

const NAME_START = 'latchkey_';
const DAY_SECONDS = 86_400;
/** `Max-Age` by name; a name not listed lives as long as the browser runs. 400 days is the cap of RFC 6265bis. */
const LIFETIME_SECONDS: Partial<Record<CookieName, number>> = {
  session: 400 * DAY_SECONDS,
  login: 600,
  grants: 3600,
  known: 400 * DAY_SECONDS,
  lang: 400 * DAY_SECONDS,
};

/**
 * The sealed cookies of the service: each value is a JSON document under AES-256-GCM, with a key of its own for each
 * name, so that one cookie's value is worth nothing in another.
 */
export class Cookies {
  readonly #keys: KeyRing;
  readonly #log: Log;
  readonly #prefix: string;
  readonly #attributes: string;

  constructor(options: { keys: KeyRing; address: PublicAddress; log: Log }) {
    const { basePath, isHttps } = options.address;
    this.#keys = options.keys;
    this.#log = options.log;
    if (!isHttps) this.#prefix = '';
    else this.#prefix = basePath === '/' ? '__Host-' : '__Secure-';
    this.#attributes = `; Path=${basePath}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`;
  }

  /** The cookies of one request. @param header its `Cookie` header */
  jar(header: string | undefined): CookieJar {
    return new CookieJar(this, header);
  }

  /** The document in one received value; undefined when it was not sealed by us under this name. */
  unseal(name: CookieName, value: string): { readonly document: unknown } | undefined {
    const opened = this.#keys.open(label(name), Buffer.from(value, 'base64url'));
    return opened === undefined ? undefined : { document: JSON.parse(opened.toString()) };
  }

  reportInvalid(wireName: string): void {
    this.#log.debug('http.cookie.invalid', 'a cookie could not be opened', { cookie: wireName });
  }

  /** The value to send for a document. */
  seal(name: CookieName, document: JsonValue): string {
    return this.#keys.seal(label(name), JSON.stringify(document)).toString('base64url');
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

  wireName(name: CookieName): string {
    return this.#prefix + NAME_START + name;
  }

  /** What the first version called it; read so that an upgrade signs nobody out. */
  formerWireName(name: CookieName): string {
    return this.#prefix + name;
  }
}

/**
 * What one request brought and what its answer changes. A cookie that cannot be opened counts as absent and is
 * deleted by the answer.
 */
export class CookieJar {
  readonly #cookies: Cookies;
  readonly #header: string | undefined;
  readonly #documents = new Map<CookieName, unknown>();
  readonly #changes = new Map<string, string>();

  constructor(cookies: Cookies, header: string | undefined) {
    this.#cookies = cookies;
    this.#header = header;
  }

  /** The document as received, or as set since; undefined when there is none that we wrote. */
  open(name: CookieName): unknown {
    if (!this.#documents.has(name)) this.#documents.set(name, this.#openReceived(name));
    return this.#documents.get(name);
  }

  /** @param options `maxAgeSeconds` in place of the usual lifetime of this cookie */
  set(name: CookieName, value: JsonValue, options: { readonly maxAgeSeconds?: number } = {}): void {
    this.#documents.set(name, value);
    this.#write(name, this.#cookies.seal(name, value), options.maxAgeSeconds ?? LIFETIME_SECONDS[name]);
    this.#deleteFormer(name);
  }

  /** Deletes the cookie from the browser. */
  clear(name: CookieName): void {
    this.#documents.set(name, undefined);
    this.#delete(this.#cookies.wireName(name));
    this.#deleteFormer(name);
  }

  /** `Set-Cookie` values of the answer. */
  changes(): string[] {
    return [...this.#changes.values()];
  }

  #openReceived(name: CookieName): unknown {
    const wireName = this.#cookies.wireName(name);
    const received = receivedValues(this.#header, wireName);
    if (received.length === 0) return this.#adoptFormer(name);
    const opened = received.flatMap((value) => this.#cookies.unseal(name, value) ?? []);
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
  #adoptFormer(name: CookieName): unknown {
    const [former, another] = this.#openFormer(name);
    if (former === undefined || another !== undefined) return undefined;
    this.#write(name, former.value, LIFETIME_SECONDS[name]);
    return former.document;
  }

  #deleteFormer(name: CookieName): void {
    if (this.#openFormer(name).length > 0) this.#delete(this.#cookies.formerWireName(name));
  }

  // What does not open is another program's cookie on the same host, and not ours to delete.
  #openFormer(name: CookieName): { readonly value: string; readonly document: unknown }[] {
    return receivedValues(this.#header, this.#cookies.formerWireName(name)).flatMap((value) => {
      const opened = this.#cookies.unseal(name, value);
      return opened === undefined ? [] : [{ value, document: opened.document }];
    });
  }

  #write(name: CookieName, sealed: string, maxAgeSeconds: number | undefined): void {
    const wireName = this.#cookies.wireName(name);
    this.#changes.set(wireName, this.#cookies.serialize(wireName, sealed, maxAgeSeconds));
  }

  #delete(wireName: string): void {
    this.#changes.set(wireName, this.#cookies.serializeDeletion(wireName));
  }
}

function label(name: CookieName): string {
  return `cookie/${name}`;
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
