import { type IncomingHttpHeaders, request } from 'node:http';
import { type HtmlForm, parseForms, textOf } from './html-forms.ts';

/** What the browser shows after a request. */
export interface Shown {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Absolute address that was asked for. */
  readonly url: string;
  /** Absolute target of a redirect that was not followed. */
  readonly location: string | undefined;
  readonly body: string;
  /** The visible text, white space folded. */
  readonly text: string;
  readonly forms: readonly HtmlForm[];
  /** The codes of `data-error-code`, in the order of the page. */
  readonly errorCodes: readonly string[];
}

export interface BrowserOptions {
  /** Where the service listens, for example `http://127.0.0.1:41234`. */
  readonly listener: string;
  /** `http.public_base` of the service; the listener's address unless given. */
  readonly publicBase?: string;
  readonly userAgent?: string;
  readonly acceptLanguage?: string;
  /** Further headers of every request, for example `X-Forwarded-For`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SubmitOptions {
  /** Which form of the page, by the path it posts to; the first one unless given. */
  readonly action?: string;
  /** Headers that differ from a browser's; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Ends the connection before the answer. */
  readonly signal?: AbortSignal;
}

const MAX_REDIRECTS = 10;

/**
 * A browser without scripts: keeps cookies, reads forms with their hidden inputs, and sends the headers by which a
 * browser tells where a request comes from. It never follows a redirect to another origin.
 */
export class Browser {
  readonly #options: BrowserOptions;
  readonly #base: string;
  readonly #cookies = new Map<string, string>();
  #shown: Shown | undefined;

  constructor(options: BrowserOptions) {
    this.#options = options;
    const base = options.publicBase ?? options.listener;
    this.#base = base.endsWith('/') ? base : `${base}/`;
  }

  /** The page shown last. */
  get shown(): Shown {
    if (this.#shown === undefined) throw new Error('the browser has not opened a page yet');
    return this.#shown;
  }

  /** Values by name as sent on the wire; tests may plant and remove some. */
  get cookies(): Map<string, string> {
    return this.#cookies;
  }

  /** Opens an address, absolute or relative to the public base, without following redirects. */
  async get(address: string, headers: Readonly<Record<string, string | undefined>> = {}): Promise<Shown> {
    return await this.#load('GET', this.#resolve(address), undefined, { 'sec-fetch-site': 'none', ...headers });
  }

  /** Asks for the head of a page only. */
  async head(address: string): Promise<Shown> {
    return await this.#load('HEAD', this.#resolve(address), undefined, { 'sec-fetch-site': 'none' });
  }

  /** Opens an address and follows redirects as long as they stay at the service. */
  async open(address: string): Promise<Shown> {
    await this.get(address);
    return await this.follow();
  }

  /**
   * Sends a form of the page shown: its inputs as they are, with `fields` typed in (and the button, if one
   * with a name is pressed). Redirects are not followed.
   */
  async submit(fields: Readonly<Record<string, string>> = {}, options: SubmitOptions = {}): Promise<Shown> {
    const { forms, url } = this.shown;
    const form = forms.find((candidate) => options.action === undefined || candidate.action === options.action);
    if (form === undefined) throw new Error(`no form ${options.action ?? ''} on ${url}`);
    const values = new URLSearchParams([...form.inputs]);
    for (const [name, value] of Object.entries(fields)) values.set(name, value);
    return await this.post(form.action, values, options.headers, options.signal);
  }

  /** Posts fields as a form of this site would, whatever the page shown. */
  async post(
    address: string,
    fields: URLSearchParams,
    headers: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<Shown> {
    return await this.postRaw(address, fields.toString(), headers, signal);
  }

  /** The same with a body as it is. */
  async postRaw(
    address: string,
    body: string,
    headers: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<Shown> {
    const { origin } = new URL(this.#base);
    const all = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin,
      ...headers,
    };
    return await this.#load('POST', this.#resolve(address), body, all, signal);
  }

  /** Follows the redirects of the last answer as long as they stay at the service. */
  async follow(): Promise<Shown> {
    for (let count = 0; count < MAX_REDIRECTS; count += 1) {
      const { location } = this.shown;
      if (location === undefined || new URL(location).origin !== new URL(this.#base).origin) return this.shown;
      await this.#load('GET', location, undefined, { 'sec-fetch-site': 'same-origin' });
    }
    throw new Error(`more than ${MAX_REDIRECTS} redirects, last to ${this.shown.location ?? ''}`);
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
  ): Promise<Shown> {
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
    const answer = await exchange(method, this.#options.listener + pathname + search, sent, body, signal);
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    const { location } = answer.headers;
    this.#shown = {
      ...answer,
      url,
      location: location === undefined ? undefined : new URL(location, url).href,
      text: textOf(answer.body),
      forms: parseForms(answer.body, pathname + search),
      errorCodes: [...answer.body.matchAll(/data-error-code="([^"]*)"/g)].map((match) => match[1] ?? ''),
    };
    return this.#shown;
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
): Promise<Pick<Shown, 'status' | 'headers' | 'body'>> {
  return new Promise((resolve, reject) => {
    // A connection for each request: none is left open when the service under test stops.
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
