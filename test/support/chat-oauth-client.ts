/** A chat client that signs in through OAuth with plain requests and its user's browser. */
import type { Browser } from './browser.ts';
import { basic } from './oauth-service.ts';
import type { TestService } from './service.ts';

export interface OAuthResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** An entry of the service's `clients` setting. */
export function chatClientSettings(client_id: string, more: Readonly<Record<string, unknown>> = {}) {
  const own = { client_auth_method: 'client_secret_basic', client_secret: SECRET, client_name: 'Harbour' };
  return { client_id, ...own, redirect_uris: [CALLBACK], ...more };
}

export class ChatOAuthClient {
  readonly #service: Pick<TestService, 'address'>;
  readonly #id: string;

  constructor(service: Pick<TestService, 'address'>, id: string) {
    this.#service = service;
    this.#id = id;
  }

  /** Returns the same client for another instance. */
  at(service: Pick<TestService, 'address'>): ChatOAuthClient {
    return new ChatOAuthClient(service, this.#id);
  }

  async post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OAuthResponse> {
    const response = await fetch(this.#service.address + path, {
      method: 'POST',
      headers: { authorization: basic(this.#id, SECRET), ...headers },
      body: new URLSearchParams(form),
    });
    const text = await response.text();
    const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  }

  authorizationRequest(scope: string): Record<string, string> {
    return { client_id: this.#id, redirect_uri: CALLBACK, response_type: 'code', scope };
  }

  /** Runs an authorization with consent. @returns the response parameters: a code or an error */
  async authorize(browser: Browser, scope: string): Promise<URLSearchParams> {
    await browser.open(`/authorize?${new URLSearchParams(this.authorizationRequest(scope))}`);
    if (browser.page.location === undefined) await browser.submit({ action: 'consent' }, { action: '/authorize' });
    return new URL(browser.page.location ?? '').searchParams;
  }

  async code(browser: Browser, scope: string): Promise<string> {
    const code = (await this.authorize(browser, scope)).get('code');
    if (code === null) throw new Error(`no code for ${scope}: ${browser.page.location}`);
    return code;
  }

  async exchange(code: string, headers: Readonly<Record<string, string>> = {}): Promise<OAuthResponse> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
    return await this.post('/oauth2/token', form, headers);
  }

  /** Returns a device code that the user of this browser has approved. */
  async deviceCode(browser: Browser, scope: string): Promise<string> {
    const { body } = await this.post('/oauth2/device', { scope });
    await browser.get('/link');
    await browser.submit({ code: String(body['user_code']) });
    await browser.follow();
    const { pathname } = new URL(browser.page.url);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: pathname });
    return String(body['device_code']);
  }

  async poll(deviceCode: string, headers: Readonly<Record<string, string>> = {}): Promise<OAuthResponse> {
    return await this.post('/oauth2/token', { grant_type: DEVICE_CODE, device_code: deviceCode }, headers);
  }

  async refresh(refreshToken: string, fields: Readonly<Record<string, string>> = {}): Promise<OAuthResponse> {
    return await this.post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken, ...fields });
  }

  async revoke(token: string): Promise<OAuthResponse> {
    return await this.post('/oauth2/revoke', { token });
  }

  /** Signs the user in with the authorization code grant. */
  async signIn(browser: Browser, scope: string): Promise<OAuthTokens> {
    return tokensOf(await this.exchange(await this.code(browser, scope)));
  }
}

export function tokensOf({ status, body }: OAuthResponse): OAuthTokens {
  const { access_token: accessToken, refresh_token: refreshToken } = body;
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') {
    throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  }
  return { accessToken, refreshToken };
}
