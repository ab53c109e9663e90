/** A GraphQL client: an application with its own headers, or the account pages in a browser. */
// Preloaded: the service imports this module on the first request, which can exceed the request timeout on a busy
// machine.
import '#features/account-api/endpoint.ts';
import { Browser } from './browser.ts';
import type { TestService } from './service.ts';

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface GraphqlResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if nothing was executed. */
  readonly data: unknown;
  readonly errors: readonly GraphqlError[];
}

type Place = Pick<TestService, 'address' | 'publicBase'>;

export class GraphqlClient {
  readonly #service: Place;
  readonly #headers: Readonly<Record<string, string>>;
  /** The browser whose cookies are sent. */
  readonly browser: Browser | undefined;

  constructor(service: Place, headers: Readonly<Record<string, string>> = {}, browser?: Browser) {
    this.#service = service;
    this.#headers = headers;
    this.browser = browser;
  }

  /** Signs the user in with a new browser and sends its cookies. */
  static async signedIn(service: Place, username: string, password: string): Promise<GraphqlClient> {
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/login');
    await browser.submit({ username, password });
    if (browser.page.status !== 303) throw new Error(`signing in ${username} gave ${browser.page.status}`);
    return new GraphqlClient(service, {}, browser);
  }

  /** Returns the same client with additional headers. */
  with(headers: Readonly<Record<string, string>>): GraphqlClient {
    return new GraphqlClient(this.#service, { ...this.#headers, ...headers }, this.browser);
  }

  async query(query: string, variables?: object, operationName?: string): Promise<GraphqlResponse> {
    return await this.post(JSON.stringify({ query, variables, operationName }));
  }

  async post(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<GraphqlResponse> {
    return await this.#send('/graphql', { method: 'POST', body }, { 'content-type': 'application/json', ...headers });
  }

  async get(parameters: Readonly<Record<string, string>>): Promise<GraphqlResponse> {
    return await this.#send(`/graphql?${new URLSearchParams(parameters)}`, { method: 'GET' });
  }

  async #send(
    path: string,
    init: RequestInit,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<GraphqlResponse> {
    const cookie = [...(this.browser?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#service.address + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...this.#headers, ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.browser?.cookies.set(name, value);
    }
    const text = await response.text();
    const { status } = response;
    const body: { data?: unknown; errors?: readonly GraphqlError[] } = text.startsWith('{') ? JSON.parse(text) : {};
    return { status, headers: response.headers, text, data: body.data, errors: body.errors ?? [] };
  }
}

/** Returns `extensions.code` of each error. */
export function codesOf({ errors }: GraphqlResponse): unknown[] {
  return errors.map(({ extensions }) => extensions['code']);
}
