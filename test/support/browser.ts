import { type IncomingHttpHeaders, request } from 'node:http';
import { type HtmlForm, parseForms, textOf } from './html-forms.ts';

/** What the browser shows after a response. */
export interface Page {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Absolute URL of the request. */
  readonly url: string;
  /** Absolute target of a redirect that was not followed. */
  readonly location: string | undefined;
  readonly body: string;
  /** The visible text, with whitespace collapsed. */
  readonly text: string;
  readonly forms: readonly HtmlForm[];
  /** The values of `data-error-code`, in page order. */
  readonly errorCodes: readonly string[];
}

export interface BrowserOptions {
  /** The listener's origin, for example `http://127.0.0.1:41234`. */
  readonly listener: string;
  /** `http.public_base` of the service. Defaults to the listener's origin. */
  readonly publicBase?: string;
  readonly userAgent?: string;
  readonly acceptLanguage?: string;
  /** Extra headers for every request, for example `X-Forwarded-For`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SubmitOptions {
  /** Selects the form by the path it posts to. Defaults to the first form. */
  readonly action?: string;
  /** Headers that override the browser's. An `undefined` value omits the header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Aborts the connection before the response. */
  readonly signal?: AbortSignal;
}

const MAX_REDIRECTS = 10;

/**
 * A browser without scripts. It keeps cookies, reads forms with their hidden inputs, and sends the headers that
 * identify the origin of a request. It never follows a redirect to another origin.
 */
export class Browser {
  readonly #options: BrowserOptions;
  readonly #base: string;
  readonly #cookies = new Map<string, string>();
  #page: Page | undefined;

  constructor(options: BrowserOptions) {
    this.#options = options;
    const base = options.publicBase ?? options.listener;
    this.#base = base.endsWith('/') ? base : `${base}/`;
  }

  /** The most recent page. */
  get page(): Page {
    if (this.#page === undefined) throw new Error('the browser has not opened a page yet');
    return this.#page;
  }

  /** Cookie values by name, as sent on the wire. Tests may add and remove cookies. */
  get cookies(): Map<string, string> {
    return this.#cookies;
  }

  /** Requests a URL, absolute or relative to the public base, without following redirects. */
  async get(address: string, headers: Readonly<Record<string, string | undefined>> = {}): Promise<Page> {
    return await this.#load('GET', this.#resolve(address), undefined, { 'sec-fetch-site': 'none', ...headers });
  }

  /** Sends a HEAD request. */
  async head(address: string): Promise<Page> {
    return await this.#load('HEAD', this.#resolve(address), undefined, { 'sec-fetch-site': 'none' });
  }

  /** Requests a URL and follows redirects within the service. */
  async open(address: string): Promise<Page> {
    await this.get(address);
    return await this.follow();
  }

  /**
   * Submits a form of the current page: its inputs plus `fields`, which include the name of a pressed button if it has
   * one. Does not follow redirects.
   */
  async submit(fields: Readonly<Record<string, string>> = {}, options: SubmitOptions = {}): Promise<Page> {
    const { forms, url } = this.page;
    const form = forms.find((candidate) => options.action === undefined || candidate.action === options.action);
    if (form === undefined) throw new Error(`no form ${options.action ?? ''} on ${url}`);
    const values = new URLSearchParams([...form.inputs]);
    for (const [name, value] of Object.entries(fields)) values.set(name, value);
    return await this.post(form.action, values, options.headers, options.signal);
  }

  /** Posts fields as a same-site form would, regardless of the current page. */
  async post(
    address: string,
    fields: URLSearchParams,
    headers: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<Page> {
    return await this.postRaw(address, fields.toString(), headers, signal);
  }

  /** Like `post`, with a raw body. */
  async postRaw(
    address: string,
    body: string,
    headers: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<Page> {
    const { origin } = new URL(this.#base);
    const all = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin,
      ...headers,
    };
    return await this.#load('POST', this.#resolve(address), body, all, signal);
  }

  /** Follows the redirects of the last response within the service. */
  async follow(): Promise<Page> {
    for (let count = 0; count < MAX_REDIRECTS; count += 1) {
      const { location } = this.page;
      if (location === undefined || new URL(location).origin !== new URL(this.#base).origin) return this.page;
      await this.#load('GET', location, undefined, { 'sec-fetch-site': 'same-origin' });
    }
    throw new Error(`more than ${MAX_REDIRECTS} redirects, last to ${this.page.location ?? ''}`);
  }

  #resolve(address: string): string {
    return new URL(address, this.#base).href;
  }

  async #load(
    method: string,
    url: string,
    body: string | undefined,
    headers: Readonly<Record<string, string | undefined>>,
    signal?: AbortSignal,
  ): Promise<Page> {
    const { pathname, search } = new URL(url);
    const all = {
      host: new URL(this.#base).host,
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'accept-language': this.#options.acceptLanguage ?? 'en',
      'user-agent': this.#options.userAgent ?? 'Mozilla/5.0 (test browser)',
      'sec-fetch-dest': 'document',
      'sec-fetch-mode': 'navigate',
      cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') || undefined,
      ...this.#options.headers,
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const response = await exchange(method, this.#options.listener + pathname + search, sent, body, signal);
    for (const line of response.headers['set-cookie'] ?? []) this.#keep(line);
    const { location } = response.headers;
    this.#page = {
      ...response,
      url,
      location: location === undefined ? undefined : new URL(location, url).href,
      text: textOf(response.body),
      forms: parseForms(response.body, pathname + search),
      errorCodes: [...response.body.matchAll(/data-error-code="([^"]*)"/g)].map((match) => match[1] ?? ''),
    };
    return this.#page;
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';');
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'max-age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, pair.slice(equals + 1).trim());
  }
}

function exchange(
  method: string,
  url: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Pick<Page, 'status' | 'headers' | 'body'>> {
  return new Promise((resolve, reject) => {
    // Uses one connection per request, so that none is open when the service under test stops.
    const outgoing = request(
      url,
      { method, headers: { ...headers }, agent: false, ...(signal && { signal }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
