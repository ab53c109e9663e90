/** Signs a chat client in through OAuth with plain requests: any scopes, and the device grant. */
import { createHash, randomBytes } from 'node:crypto';
import type { Browser } from '../browser.ts';
import type { TokenPair } from './chat-app.ts';

export const REDIRECT_URI = 'https://app.example/callback';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export interface OAuthTokens extends TokenPair {
  readonly clientId: string;
  readonly deviceId: string;
  /** The granted scope. */
  readonly scope: string;
}

interface SignIn {
  readonly clientId: string;
  readonly scope: string;
  /** A browser with a signed-in user. */
  readonly browser: Browser;
}

/** OAuth requests to one provider. */
export class OAuthRequests {
  readonly #metadata: Readonly<Record<string, unknown>>;

  private constructor(metadata: Readonly<Record<string, unknown>>) {
    this.#metadata = metadata;
  }

  static async discover(issuer: string): Promise<OAuthRequests> {
    const response = await fetch(new URL('.well-known/openid-configuration', issuer));
    return new OAuthRequests(await response.json());
  }

  /** @returns the client ID */
  async register(): Promise<string> {
    const body = {
      client_name: 'Harbour',
      client_uri: 'https://app.example/',
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
      token_endpoint_auth_method: 'none',
    };
    const headers = { 'content-type': 'application/json' };
    const registered = await this.#send('registration_endpoint', { headers, body: JSON.stringify(body) });
    return String(registered['client_id']);
  }

  /** Signs in with an authorization code from the browser. */
  async signInByCode({ clientId, scope, browser }: SignIn): Promise<OAuthTokens> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      response_mode: 'fragment',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      scope,
      state: randomBytes(8).toString('hex'),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const { code } = await consent(browser, `${this.#endpoint('authorization_endpoint')}?${query}`);
    const fields = { code, redirect_uri: REDIRECT_URI, code_verifier: verifier };
    return await this.#askTokens(clientId, { grant_type: 'authorization_code', ...fields });
  }

  /** Signs in with a code that the user enters in another browser. @param wait advances the time between two polls */
  async signInByDeviceCode(
    { clientId, scope, browser }: SignIn,
    wait: (seconds: number) => void,
  ): Promise<OAuthTokens> {
    const requested = await this.#post('device_authorization_endpoint', { client_id: clientId, scope });
    await browser.open(String(requested['verification_uri_complete']));
    await browser.submit();
    await browser.follow();
    const { pathname } = new URL(browser.page.url);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: pathname });
    wait(Number(requested['interval']));
    return await this.#askTokens(clientId, { grant_type: DEVICE_GRANT, device_code: String(requested['device_code']) });
  }

  async revoke({ clientId, accessToken }: OAuthTokens): Promise<void> {
    const form = { token: accessToken, token_type_hint: 'access_token', client_id: clientId };
    await this.#post('revocation_endpoint', form);
  }

  async #askTokens(clientId: string, form: Readonly<Record<string, string>>): Promise<OAuthTokens> {
    const response = await this.#post('token_endpoint', { client_id: clientId, ...form });
    const scope = String(response['scope']);
    const [accessToken, refreshToken] = [String(response['access_token']), String(response['refresh_token'])];
    return { clientId, scope, deviceId: deviceOf(scope), accessToken, refreshToken };
  }

  async #post(name: string, form: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
    return await this.#send(name, { body: new URLSearchParams(form) });
  }

  async #send(name: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(this.#endpoint(name), { method: 'POST', ...init });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  #endpoint(name: string): string {
    return String(this.#metadata[name]);
  }
}

/** Gives consent if the service asks for it. */
export async function consent(
  browser: Browser,
  url: string,
): Promise<{ readonly code: string; readonly state: string }> {
  let page = await browser.open(url);
  if (page.forms.some(({ action }) => action === '/authorize')) {
    page = await browser.submit({ action: 'consent' }, { action: '/authorize' });
  }
  const { search, hash } = new URL(page.location ?? page.url);
  const response = new URLSearchParams(hash === '' ? search : hash.slice(1));
  const [code, state] = [response.get('code'), response.get('state')];
  if (code === null || state === null) throw new Error(`no code: ${page.status} ${page.location ?? page.text}`);
  return { code, state };
}

/** Returns the device ID in the scope. */
export function deviceOf(scope: string): string {
  return /(?:^| )urn:matrix:(?:org\.matrix\.msc2967\.)?client:device:(\S+)/.exec(scope)?.[1] ?? '';
}
