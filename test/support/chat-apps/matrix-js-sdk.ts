/** A chat client built on matrix-js-sdk, Element's library. */
import { createClient, type LoginResponse, type MatrixClient, MatrixError, Method, SSOAction } from 'matrix-js-sdk';
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

const silent = () => undefined;
/** Silences the library, which logs every request. */
export const logger = {
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  getChild: () => logger,
};

export class MatrixJsSdkApp implements ChatApp {
  readonly #address: string;
  #client: MatrixClient;
  #credentials: Credentials | undefined;

  constructor(address: string) {
    this.#address = address;
    this.#client = createClient({ baseUrl: address, logger });
  }

  get credentials(): Credentials {
    if (this.#credentials === undefined) throw new Error('no user has signed in');
    return this.#credentials;
  }

  async loginFlows(): Promise<readonly Members[]> {
    const { flows } = await told(this.#client.loginFlows());
    return flows.map((flow) => ({ ...flow }));
  }

  /** Creates a new client object from the response, as the library's documentation recommends. */
  async logIn({ identifier, password, deviceId, deviceName, canRefresh }: PasswordLogin): Promise<Credentials> {
    const response = await told(
      this.#client.loginRequest({
        type: 'm.login.password',
        identifier,
        password,
        ...(deviceId !== undefined && { device_id: deviceId }),
        ...(deviceName !== undefined && { initial_device_display_name: deviceName }),
        ...(canRefresh !== undefined && { refresh_token: canRefresh }),
      }),
    );
    this.use(credentialsOf(response));
    return this.credentials;
  }

  async logInByOldMember(user: string, password: string): Promise<Credentials> {
    return this.#keep(await told(this.#client.loginWithPassword(user, password)));
  }

  async logInWithToken(token: string): Promise<Credentials> {
    return this.#keep(await told(this.#client.loginWithToken(token)));
  }

  ssoUrl(redirectUrl: string, { provider, action }: { provider?: string; action?: 'login' | 'register' } = {}): string {
    const named = action === 'register' ? SSOAction.REGISTER : SSOAction.LOGIN;
    return this.#client.getSsoLoginUrl(redirectUrl, 'sso', provider, action === undefined ? undefined : named);
  }

  use(credentials: Credentials): void {
    const { userId, deviceId, accessToken, refreshToken } = credentials;
    this.#credentials = credentials;
    this.#client = createClient({
      baseUrl: this.#address,
      logger,
      userId,
      deviceId,
      accessToken,
      ...(refreshToken !== undefined && { refreshToken, tokenRefreshFunction: (token) => this.#refresh(token) }),
    });
  }

  async whoAmI() {
    const { user_id: userId, device_id: deviceId } = await told(this.#client.whoami());
    return { userId, deviceId };
  }

  async refresh(refreshToken = this.credentials.refreshToken ?? ''): Promise<TokenPair> {
    return await told(this.#refresh(refreshToken));
  }

  async logOut(): Promise<Members> {
    return await told(this.#client.logout());
  }

  /** Sends the request directly: the library has no method for it. */
  async logOutEverywhere(): Promise<Members> {
    return await told(this.#client.http.authedRequest<Members>(Method.Post, '/logout/all'));
  }

  async devices(): Promise<readonly Device[]> {
    const { devices } = await told(this.#client.getDevices());
    return devices.map(({ device_id: id, display_name: name }) => ({ id, name: name ?? undefined }));
  }

  /** Sends the request directly: the library's method requires three signed keys. */
  async uploadCrossSigningKey(key: string): Promise<void> {
    const keys = { master_key: crossSigningKey(this.credentials.userId, key) };
    await told(this.#client.http.authedRequest(Method.Post, '/keys/device_signing/upload', undefined, keys));
  }

  /** Uses a second client object. On a rejected refresh, the object with the pending request would wait for itself. */
  async #refresh(refreshToken: string) {
    const client = createClient({ baseUrl: this.#address, logger, accessToken: this.#client.getAccessToken() ?? '' });
    const response = await client.refreshToken(refreshToken);
    return {
      accessToken: response.access_token,
      refreshToken: response.refresh_token,
      expiry: new Date(Date.now() + response.expires_in_ms),
    };
  }

  #keep(response: LoginResponse): Credentials {
    this.#credentials = credentialsOf(response);
    return this.#credentials;
  }
}

function credentialsOf({ user_id, device_id, access_token, refresh_token }: LoginResponse): Credentials {
  return { userId: user_id, deviceId: device_id, accessToken: access_token, refreshToken: refresh_token };
}

async function told<Value>(request: Promise<Value>): Promise<Value> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof MatrixError) || error.httpStatus === undefined) throw error;
    throw new ChatRefusal(error.httpStatus, error.errcode, error.data);
  }
}
