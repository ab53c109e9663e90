import { parseId, type Ulid } from '#platform/base/ids.ts';
import { chatNames } from './chat/names.ts';

/**
 * What a user does after signing in, registering or reauthenticating. It is a tagged object in the query of those
 * pages. It never contains a URL, so it cannot cause an open redirect.
 */
export type PostAuthAction =
  | { readonly kind: 'continue_authorization_grant'; readonly id: Ulid<'authorization-grant'> }
  | { readonly kind: 'continue_device_code_grant'; readonly id: Ulid<'device-code-grant'> }
  | { readonly kind: 'continue_compat_sso_login'; readonly id: Ulid<'compat-sso-login'> }
  | { readonly kind: 'change_password' }
  /** Opens the admin area. */
  | { readonly kind: 'administer' }
  | { readonly kind: 'link_upstream'; readonly id: Ulid<'upstream-link'> }
  | { readonly kind: 'manage_account'; readonly account?: AccountAction };

/** What to open in the account area. `action` is the name as received, in one of the accepted spellings. */
export interface AccountAction {
  readonly action: string;
  readonly deviceId?: string;
}

const DEVICE_ACTIONS = new Set(['session_view', 'session_end', 'device_view', 'device_delete']);
const PLAIN_NAMES = new Set(['profile', 'sessions_list', 'session_view', 'session_end', 'plan_management']);
const PREFIXED_NAMES = new Set([
  'profile',
  'sessions_list',
  'session_view',
  'session_end',
  'devices_list',
  'device_view',
  'device_delete',
  'account_deactivate',
  'cross_signing_reset',
  'plan_management',
]);
// Printable: no control characters, no lone surrogates, 1 to 255 characters.
const DEVICE_ID = /^[^\p{C}]{1,255}$/u;

/** Single values of a query. `isRepeated` reports names given more than once. */
export interface ActionFields {
  get(name: string): string | undefined;
  isRepeated(name: string): boolean;
}

/**
 * Parses an action from a query or a form. Malformed values drop the whole action, except that a malformed account
 * action drops only itself.
 * @param protocolName names `org.<protocolName>.…` are accepted as well as the plain ones
 */
export function parsePostAuthAction(fields: ActionFields, protocolName: string): PostAuthAction | undefined {
  if (fields.isRepeated('kind') || fields.isRepeated('id')) return undefined;
  const kind = fields.get('kind');
  switch (kind) {
    case 'continue_authorization_grant':
    case 'continue_device_code_grant':
    case 'continue_compat_sso_login':
    case 'link_upstream':
      return withId(kind, fields.get('id'));
    case 'change_password':
    case 'administer':
      return { kind };
    case 'manage_account': {
      const account = parseAccountAction(fields, protocolName);
      return account === undefined ? { kind } : { kind, account };
    }
    default:
      return undefined;
  }
}

/** Parses the account area's own query (`action`, `device_id`) by the same rules. */
export function parseAccountAction(fields: ActionFields, protocolName: string): AccountAction | undefined {
  const action = fields.get('action');
  if (action === undefined || fields.isRepeated('action')) return undefined;
  const { actionPrefix: prefix } = chatNames(protocolName);
  const name = action.startsWith(prefix) ? action.slice(prefix.length) : action;
  if (!(action === name ? PLAIN_NAMES : PREFIXED_NAMES).has(name)) return undefined;
  if (!DEVICE_ACTIONS.has(name)) return { action };
  const deviceId = fields.get('device_id');
  if (deviceId === undefined || fields.isRepeated('device_id') || !DEVICE_ID.test(deviceId)) return undefined;
  return { action, deviceId };
}

/** Returns the fields of an action in the order of links and hidden inputs; empty without an action. */
export function postAuthActionFields(action: PostAuthAction | undefined): [name: string, value: string][] {
  if (action === undefined) return [];
  const fields: [string, string][] = [['kind', action.kind]];
  if (action.kind === 'manage_account') fields.push(...accountActionFields(action.account));
  else if (action.kind !== 'change_password' && action.kind !== 'administer') fields.push(['id', action.id]);
  return fields;
}

/** Returns `action` and `device_id` of an account action; empty without one. */
export function accountActionFields(account: AccountAction | undefined): [name: string, value: string][] {
  if (account === undefined) return [];
  const fields: [string, string][] = [['action', account.action]];
  if (account.deviceId !== undefined) fields.push(['device_id', account.deviceId]);
  return fields;
}

function withId(
  kind: 'continue_authorization_grant' | 'continue_device_code_grant' | 'continue_compat_sso_login' | 'link_upstream',
  text: string | undefined,
): PostAuthAction | undefined {
  if (text === undefined) return undefined;
  switch (kind) {
    case 'continue_authorization_grant': {
      const id = parseId<'authorization-grant'>(text);
      return id === undefined ? undefined : { kind, id };
    }
    case 'continue_device_code_grant': {
      const id = parseId<'device-code-grant'>(text);
      return id === undefined ? undefined : { kind, id };
    }
    case 'continue_compat_sso_login': {
      const id = parseId<'compat-sso-login'>(text);
      return id === undefined ? undefined : { kind, id };
    }
    case 'link_upstream': {
      const id = parseId<'upstream-link'>(text);
      return id === undefined ? undefined : { kind, id };
    }
  }
}
