/** A chat client of some make, as the tests use it: the same sequence is walked with each make. */

export type Members = Readonly<Record<string, unknown>>;

export interface PasswordLogin {
  readonly identifier:
    | { readonly type: 'm.id.user'; readonly user: string }
    | { readonly type: 'm.id.thirdparty'; readonly medium: string; readonly address: string };
  readonly password: string;
  readonly deviceId?: string;
  readonly deviceName?: string;
  /** It asks for a refresh token, and refreshes by itself. */
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

/** What the server has refused. */
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

/** Every request throws `ChatRefusal` when it is refused. */
export interface ChatApp {
  /** Of the sign-in that succeeded last. */
  readonly credentials: Credentials;
  loginFlows(): Promise<readonly Members[]>;
  logIn(login: PasswordLogin): Promise<Credentials>;
  /** With the old member for the name. A token of before is sent along. */
  logInByOldMember(user: string, password: string): Promise<Credentials>;
  /** With a token of a browser. A token of before is sent along. */
  logInWithToken(token: string): Promise<Credentials>;
  /** Where it sends the browser. @param options.provider its id */
  ssoUrl(redirectUrl: string, options?: { readonly provider?: string; readonly action?: 'login' | 'register' }): string;
  /** Goes on with tokens that were got in another way. */
  use(credentials: Credentials): void;
  whoAmI(): Promise<{ readonly userId: string; readonly deviceId: string | undefined }>;
  /** The own tokens stay as they are. @param refreshToken its own unless given */
  refresh(refreshToken?: string): Promise<TokenPair>;
  logOut(): Promise<Members>;
  logOutEverywhere(): Promise<Members>;
  devices(): Promise<readonly Device[]>;
  /** @param key Base64 without padding */
  uploadCrossSigningKey(key: string): Promise<void>;
}

/** Where a chat client of a make is pointed to. */
export type ChatAppMake = (address: string, protocolName: string) => ChatApp;

export function crossSigningKey(userId: string, key: string) {
  return { user_id: userId, usage: ['master'], keys: { [`ed25519:${key}`]: key } };
}
