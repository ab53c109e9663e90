import type { Ulid } from '#platform/base/ids.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { accountActionFields, type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';

/**
 * Every URL that Latchkey writes into a page, a redirect or a document. They are built only from `http.public_base`, so
 * that no request header can change them.
 */
export class Urls {
  /** Public base URL with a trailing slash, for example `https://auth.example.org/` or `https://example.org/auth/`. */
  readonly base: string;
  /** Origin of the public base URL, as browsers send it in `Origin`. */
  readonly origin: string;
  /** Path of the public base URL, starting and ending with `/`. It is also the path of cookies. */
  readonly basePath: string;
  readonly isHttps: boolean;

  constructor(publicBase: string) {
    const url = new URL(publicBase);
    this.base = url.href.endsWith('/') ? url.href : `${url.href}/`;
    this.origin = url.origin;
    this.basePath = new URL(this.base).pathname;
    this.isHttps = url.protocol === 'https:';
  }

  /** Returns the absolute URL of a path below the base. `path` has no leading slash. */
  absolute(path: string): string {
    return this.base + path;
  }

  /** Returns the same as an absolute path, for links and redirects within this service. */
  path(path: string): string {
    return this.basePath + path;
  }

  index(): string {
    return this.basePath;
  }

  /** @param notice field that makes the page show a notice */
  login(action?: PostAuthAction, loginHint?: string, notice?: readonly [name: string, value: string]): string {
    const fields: (readonly [name: string, value: string])[] = [...postAuthActionFields(action)];
    if (loginHint !== undefined) fields.push(['login_hint', loginHint]);
    if (notice !== undefined) fields.push(notice);
    return this.path('login') + query(fields);
  }

  /** The page where a user uses or sets up a second factor after the first one. */
  loginStep(step: 'totp' | 'recovery-code' | 'passkey' | 'setup', action?: PostAuthAction): string {
    return this.path(`login/${step}`) + query(postAuthActionFields(action));
  }

  /** Where scripts get the parameters of a passkey request. */
  passkeyOptions(purpose: 'login' | 'second_factor' | 'reauth'): string {
    return this.path('login/passkey/options') + query([['purpose', purpose]]);
  }

  /** The page that offers to add a passkey after a sign-in with a password. */
  passkeyOffer(action?: PostAuthAction): string {
    return this.path('login/add-passkey') + query(postAuthActionFields(action));
  }

  /** Where its script gets the parameters of the new passkey. */
  newPasskeyOptions(): string {
    return this.path('login/add-passkey/options');
  }

  /** The same for reauthentication. */
  reauthStep(step: 'totp' | 'recovery-code', action?: PostAuthAction): string {
    return this.path(`reauth/${step}`) + query(postAuthActionFields(action));
  }

  logout(): string {
    return this.path('logout');
  }

  /** Where clients send users to sign them out. */
  endSession(fields: readonly (readonly [name: string, value: string])[] = []): string {
    return this.path('oauth2/logout') + query(fields);
  }

  register(action?: PostAuthAction, more: readonly (readonly [name: string, value: string])[] = []): string {
    return this.path('register') + query([...postAuthActionFields(action), ...more]);
  }

  registerWithPassword(
    action?: PostAuthAction,
    more: readonly (readonly [name: string, value: string])[] = [],
  ): string {
    return this.path('register/password') + query([...postAuthActionFields(action), ...more]);
  }

  registrationStep(
    id: Ulid<'registration'>,
    step: 'token' | 'verify-email' | 'display-name' | 'username' | 'finish',
    more: readonly (readonly [name: string, value: string])[] = [],
  ): string {
    return this.path(`register/steps/${id}/${step}`) + query(more);
  }

  reauth(action?: PostAuthAction): string {
    return this.path('reauth') + query(postAuthActionFields(action));
  }

  /** The account area, or one of its pages. @param page for example `sessions` */
  account(page = ''): string {
    return this.path(`account/${page}`);
  }

  adminArea(): string {
    return this.path('admin/');
  }

  changePassword(): string {
    return this.path('account/password/change');
  }

  recover(more: readonly (readonly [name: string, value: string])[] = []): string {
    return this.path('recover') + query(more);
  }

  recoveryProgress(
    id: Ulid<'recovery-session'>,
    more: readonly (readonly [name: string, value: string])[] = [],
  ): string {
    return this.path(`recover/progress/${id}`) + query(more);
  }

  /** The registration link with a registration token. @param proof only for emails to the invited address */
  invitation(token: string, proof?: string): string {
    return (
      this.absolute('register') + query([['token', token], ...(proof === undefined ? [] : [['proof', proof] as const])])
    );
  }

  /** The link in a recovery email. */
  recoveryLink(ticket: string): string {
    return this.absolute('account/password/recovery') + query([['ticket', ticket]]);
  }

  authorize(): string {
    return this.path('authorize');
  }

  authorizationGrant(id: Ulid<'authorization-grant'>): string {
    return this.path(`authorize/${id}`);
  }

  consent(id: Ulid<'authorization-grant'>): string {
    return this.path(`consent/${id}`);
  }

  /** Where users download the archive of their data. */
  dataExport(id: Ulid<'data-export'>): string {
    return this.absolute(`data-export/${id}`);
  }

  /** The page for entering a device's user code. @param userCode initial value */
  link(userCode?: string): string {
    return this.path('link') + query(userCode === undefined ? [] : [['code', userCode]]);
  }

  /** Where sign-in through an upstream provider starts. */
  upstreamAuthorize(
    id: Ulid<'upstream-provider'>,
    action?: PostAuthAction,
    more: readonly (readonly [name: string, value: string])[] = [],
  ): string {
    return this.path(`upstream/authorize/${id}`) + query([...postAuthActionFields(action), ...more]);
  }

  upstreamCallback(id: Ulid<'upstream-provider'>): string {
    return this.path(`upstream/callback/${id}`);
  }

  upstreamLink(id: Ulid<'upstream-link'>): string {
    return this.path(`upstream/link/${id}`);
  }

  clientLogo(id: Ulid<'client'>): string {
    return this.path(`client-logos/${id}`);
  }

  device(id: Ulid<'device-code-grant'>): string {
    return this.path(`device/${id}`);
  }

  /** The page of a chat client's single sign-on. */
  completeSso(id: Ulid<'compat-sso-login'>): string {
    return this.path(`complete-compat-sso/${id}`);
  }

  /**
   * The same as an absolute URL, for a client's redirect that may use another host name.
   * @param action what the client suggests to the user, sent under both names of the parameter
   */
  beginSso(id: Ulid<'compat-sso-login'>, action: string | undefined, protocolName: string): string {
    const oldName = `${chatNames(protocolName).actionPrefix}msc3824.action`;
    const fields = action === undefined ? [] : [['action', action] as const, [oldName, action] as const];
    return this.absolute(`complete-compat-sso/${id}`) + query(fields);
  }

  /** Where the user continues after authentication. `/` without an action. */
  afterAuthentication(action: PostAuthAction | undefined): string {
    switch (action?.kind) {
      case undefined:
        return this.index();
      case 'continue_authorization_grant':
        return this.authorizationGrant(action.id);
      case 'continue_device_code_grant':
        return this.device(action.id);
      case 'continue_compat_sso_login':
        return this.completeSso(action.id);
      case 'change_password':
        return this.changePassword();
      case 'administer':
        return this.adminArea();
      case 'link_upstream':
        return this.upstreamLink(action.id);
      case 'manage_account':
        return this.account() + query(accountActionFields(action.account));
    }
  }
}

/** Returns `?a=b&c=d`, or an empty string without fields. */
export function query(fields: readonly (readonly [name: string, value: string])[]): string {
  if (fields.length === 0) return '';
  return `?${fields.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`;
}
