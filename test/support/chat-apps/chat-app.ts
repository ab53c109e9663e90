/** Common interface of chat clients. The tests run the same sequence with each client library. */

export type Members = Readonly<Record<string, unknown>>;

export interface PasswordLogin {
  readonly identifier:
    | { readonly type: 'm.id.user'; readonly user: string }
    | { readonly type: 'm.id.thirdparty'; readonly medium: string; readonly address: string };
  readonly password: string;
  readonly deviceId?: string;
  readonly deviceName?: string;
  /** Whether the client requests a refresh token and refreshes automatically. */
  readonly canRefresh?: boolean;
}

export interface Credentials {
  readonly userId: string;
  readonly deviceId: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface Device {
  readonly id: string;
  readonly name: string | undefined;
}

/** A request that the server rejected. */
export class ChatRefusal extends Error {
  readonly status: number;
  readonly errcode: string | undefined;
  readonly members: Members;

  constructor(status: number, errcode: string | undefined, members: Members) {
    super(`${status} ${errcode ?? JSON.stringify(members)}`);
    this.status = status;
    this.errcode = errcode;
    this.members = members;
  }
}

/** Every method throws `ChatRefusal` when the server rejects its request. */
export interface ChatApp {
  /** Credentials of the last successful sign-in. */
  readonly credentials: Credentials;
  loginFlows(): Promise<readonly Members[]>;
  logIn(login: PasswordLogin): Promise<Credentials>;
  /** Signs in with the deprecated `user` member. Sends the previous access token along. */
  logInByOldMember(user: string, password: string): Promise<Credentials>;
  /** Signs in with a login token from the browser. Sends the previous access token along. */
  logInWithToken(token: string): Promise<Credentials>;
  /** The URL that the client opens in the browser. @param options.provider provider ID */
  ssoUrl(redirectUrl: string, options?: { readonly provider?: string; readonly action?: 'login' | 'register' }): string;
  /** Switches to tokens that were obtained elsewhere. */
  use(credentials: Credentials): void;
  whoAmI(): Promise<{ readonly userId: string; readonly deviceId: string | undefined }>;
  /** Refreshes without storing the new tokens. @param refreshToken the client's own by default */
  refresh(refreshToken?: string): Promise<TokenPair>;
  logOut(): Promise<Members>;
  logOutEverywhere(): Promise<Members>;
  devices(): Promise<readonly Device[]>;
  /** @param key Base64 without padding */
  uploadCrossSigningKey(key: string): Promise<void>;
}

/** Creates a chat client for a server. */
export type ChatAppMake = (address: string, protocolName: string) => ChatApp;

export function crossSigningKey(userId: string, key: string) {
  return { user_id: userId, usage: ['master'], keys: { [`ed25519:${key}`]: key } };
}
