import type { Ulid } from '#platform/base/ids.ts';
import { accountActionFields, type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';

/**
 * Every address that Latchkey writes into a page, a redirect or a document. Built from `http.public_base` alone:
 * no header of a request can change one.
 */
export class Urls {
  /** Public base with a trailing slash, for example `https://auth.example.org/` or `https://example.org/auth/`. */
  readonly base: string;
  /** Origin of the public base, what browsers send as `Origin`. */
  readonly origin: string;
  /** Path of the public base, beginning and ending with `/`; also the path of cookies. */
  readonly basePath: string;
  readonly isHttps: boolean;

  constructor(publicBase: string) {
    const url = new URL(publicBase);
    this.base = url.href.endsWith('/') ? url.href : `${url.href}/`;
    this.origin = url.origin;
    this.basePath = new URL(this.base).pathname;
    this.isHttps = url.protocol === 'https:';
  }

  /** Absolute address of a path below the base; `path` has no leading slash. */
  absolute(path: string): string {
    return this.base + path;
  }

  /** The same as an absolute path, for links and redirects that stay here. */
  path(path: string): string {
    return this.basePath + path;
  }

  index(): string {
    return this.basePath;
  }

  login(action?: PostAuthAction, loginHint?: string): string {
    const fields = postAuthActionFields(action);
    if (loginHint !== undefined) fields.push(['login_hint', loginHint]);
    return this.path('login') + query(fields);
  }

  logout(): string {
    return this.path('logout');
  }

  /** Where clients send people to sign them out. */
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

  registrationStep(id: Ulid<'registration'>, step: 'display-name' | 'username' | 'finish'): string {
    return this.path(`register/steps/${id}/${step}`);
  }

  reauth(action?: PostAuthAction): string {
    return this.path('reauth') + query(postAuthActionFields(action));
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

  /** Where a person enters the user code of a device. @param userCode filled in */
  link(userCode?: string): string {
    return this.path('link') + query(userCode === undefined ? [] : [['code', userCode]]);
  }

  clientLogo(id: Ulid<'client'>): string {
    return this.path(`client-logos/${id}`);
  }

  device(id: Ulid<'device-code-grant'>): string {
    return this.path(`device/${id}`);
  }

  /** Where a person goes on after authenticating; `/` without an action. */
  afterAuthentication(action: PostAuthAction | undefined): string {
    switch (action?.kind) {
      case undefined:
        return this.index();
      case 'continue_authorization_grant':
        return this.authorizationGrant(action.id);
      case 'continue_device_code_grant':
        return this.device(action.id);
      case 'continue_compat_sso_login':
        return this.path(`complete-compat-sso/${action.id}`);
      case 'change_password':
        return this.path('account/password/change');
      case 'link_upstream':
        return this.path(`upstream/link/${action.id}`);
      case 'manage_account':
        return this.path('account/') + query(accountActionFields(action.account));
    }
  }
}

/** `?a=b&c=d`, or nothing without fields. */
export function query(fields: readonly (readonly [name: string, value: string])[]): string {
  if (fields.length === 0) return '';
  return `?${fields.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`;
}
