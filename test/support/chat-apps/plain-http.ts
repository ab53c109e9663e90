/** A chat client without a library, for any protocol name. */
import { ChatClient, type ChatResponse, textOf } from '../chat-client.ts';
import {
  type ChatApp,
  ChatRefusal,
  type Credentials,
  crossSigningKey,
  type Device,
  type Members,
  type PasswordLogin,
  type TokenPair,
} from './chat-app.ts';

export class PlainHttpApp implements ChatApp {
  readonly #base: string;
  readonly #client: ChatClient;
  #credentials: Credentials | undefined;
  /** Whether the client refreshes automatically. */
  #canRefresh = false;

  constructor(address: string, protocolName: string) {
    const prefix = `/_${protocolName}/client/v3`;
    this.#base = `${address}${prefix}`;
    this.#client = new ChatClient({ address }, prefix);
  }

  get credentials(): Credentials {
    if (this.#credentials === undefined) throw new Error('no user has signed in');
    return this.#credentials;
  }

  async loginFlows(): Promise<readonly Members[]> {
    const { flows } = accepted(await this.#client.request('/login')).body;
    if (!Array.isArray(flows)) throw new Error('no flows');
    return flows;
  }

  async logIn({ identifier, password, deviceId, deviceName, canRefresh }: PasswordLogin): Promise<Credentials> {
    this.#canRefresh = canRefresh === true;
    return await this.#logIn({
      type: 'm.login.password',
      identifier,
      password,
      device_id: deviceId,
      initial_device_display_name: deviceName,
      refresh_token: canRefresh,
    });
  }

  async logInByOldMember(user: string, password: string): Promise<Credentials> {
    return await this.#logIn({ type: 'm.login.password', user, password });
  }

  async logInWithToken(token: string): Promise<Credentials> {
    return await this.#logIn({ type: 'm.login.token', token });
  }

  ssoUrl(redirectUrl: string, { provider, action }: { provider?: string; action?: string } = {}): string {
    const query = new URLSearchParams({ redirectUrl, ...(action !== undefined && { action }) });
    return `${this.#base}/login/sso/redirect${provider === undefined ? '' : `/${provider}`}?${query}`;
  }

  use(credentials: Credentials): void {
    this.#credentials = credentials;
  }

  async whoAmI() {
    const { body } = await this.#authorized('GET', '/account/whoami');
    const { user_id: userId, device_id: deviceId } = body;
    return { userId: String(userId), deviceId: typeof deviceId === 'string' ? deviceId : undefined };
  }

  async refresh(refreshToken = this.credentials.refreshToken): Promise<TokenPair> {
    const response = accepted(await this.#client.post('/refresh', { refresh_token: refreshToken }, this.#headers()));
    return { accessToken: textOf(response, 'access_token'), refreshToken: textOf(response, 'refresh_token') };
  }

  async logOut(): Promise<Members> {
    return accepted(await this.#client.post('/logout', undefined, this.#headers())).body;
  }

  async logOutEverywhere(): Promise<Members> {
    return accepted(await this.#client.post('/logout/all', undefined, this.#headers())).body;
  }

  async devices(): Promise<readonly Device[]> {
    const { devices } = (await this.#authorized('GET', '/devices')).body;
    if (!Array.isArray(devices)) throw new Error('no devices');
    return devices.map((device: Members) => ({
      id: String(device['device_id']),
      name: typeof device['display_name'] === 'string' ? device['display_name'] : undefined,
    }));
  }

  async uploadCrossSigningKey(key: string): Promise<void> {
    const body = { master_key: crossSigningKey(this.credentials.userId, key) };
    await this.#authorized('POST', '/keys/device_signing/upload', body);
  }

  async #logIn(body: Members): Promise<Credentials> {
    const response = accepted(await this.#client.post('/login', body, this.#headers()));
    const { refresh_token: refreshToken } = response.body;
    this.#credentials = {
      userId: textOf(response, 'user_id'),
      deviceId: textOf(response, 'device_id'),
      accessToken: textOf(response, 'access_token'),
      refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    };
    return this.#credentials;
  }

  /** Refreshes an unknown token once and repeats the request, as libraries do. */
  async #authorized(method: 'GET' | 'POST', path: string, body?: Members): Promise<ChatResponse> {
    const send = async () =>
      method === 'GET'
        ? await this.#client.request(path, { headers: this.#headers() })
        : await this.#client.post(path, body, this.#headers());
    const response = await send();
    if (!this.#canRefresh || response.body['errcode'] !== 'M_UNKNOWN_TOKEN') return accepted(response);
    this.#credentials = { ...this.credentials, ...(await this.refresh()) };
    return accepted(await send());
  }

  #headers(): Record<string, string> {
    return this.#credentials === undefined ? {} : { authorization: `Bearer ${this.#credentials.accessToken}` };
  }
}

function accepted(response: ChatResponse): ChatResponse {
  const { status, body } = response;
  if (status === 200) return response;
  throw new ChatRefusal(status, typeof body['errcode'] === 'string' ? body['errcode'] : undefined, body);
}
