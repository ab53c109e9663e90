/** The body of `POST /_{protocol}/client/{version}/login` (chat-compat 5.1, 5.2): user, login type and device. */
import { usernameKey } from '#domain/accounts/account-names.ts';
import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import type { LoginName, LoginNameRules } from '#domain/accounts/login-name.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { isDeviceId } from '#protocol/chat/device-id.ts';
import { type Members, membersOf, optionalFlag, optionalText, requiredText } from './json-members.ts';

export const PASSWORD_LOGIN = 'm.login.password';
export const TOKEN_LOGIN = 'm.login.token';

export type LoginRequest = { readonly device: DeviceRequest } & (
  | { readonly type: typeof PASSWORD_LOGIN; readonly account: LoginName; readonly password: string }
  /** The token that a browser took to the client. */
  | { readonly type: typeof TOKEN_LOGIN; readonly token: string }
);

export interface DeviceRequest {
  /** Undefined if the service generates the ID. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly canRefresh: boolean;
}

export interface LoginRules extends LoginNameRules {
  /** Password login is enabled. */
  readonly isPasswordAllowed: boolean;
}

/** Homeservers reject longer device names. */
const MAX_DEVICE_NAME_CHARACTERS = 100;

/**
 * Throws `malformed_request`, `application_service_login`, `unsupported_login` or `invalid_device_id`.
 * @param body the parsed JSON body
 */
export function parseLoginRequest(body: unknown, rules: LoginRules): LoginRequest {
  const members = membersOf(body);
  const type = requiredText(members, 'type');
  if (type === 'm.login.application_service') throw new LatchkeyError('application_service_login');
  if (type === TOKEN_LOGIN) return { type, token: requiredText(members, 'token'), device: deviceOf(members) };
  if (type !== PASSWORD_LOGIN || !rules.isPasswordAllowed) throw unsupported('this login type is not supported');
  return {
    type,
    account: accountOf(members, rules),
    password: requiredText(members, 'password'),
    device: deviceOf(members),
  };
}

/** Returns the login type that a body asks for, known or not, for the metrics. */
export function loginLabel(body: unknown): 'password' | 'token' | 'other' {
  const type = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  if (type === PASSWORD_LOGIN) return 'password';
  return type === TOKEN_LOGIN ? 'token' : 'other';
}

/** The old members are used if `identifier` is absent, but a bare `user` takes precedence. */
function accountOf(members: Members, rules: LoginRules): LoginName {
  const user = optionalText(members, 'user');
  if (user !== undefined) return nameOfUser(user, rules);
  if (!members.has('identifier')) return nameOfThirdParty(members, rules);
  const identifier = membersOf(members.get('identifier'), 'identifier');
  switch (requiredText(identifier, 'type')) {
    case 'm.id.user':
      return nameOfUser(requiredText(identifier, 'user'), rules);
    case 'm.id.thirdparty':
      return nameOfThirdParty(identifier, rules);
    default:
      throw unsupported('this identifier type is not supported');
  }
}

/**
 * Accepts a username or user ID of this server. A user ID of another server becomes a name that no account can have.
 */
function nameOfUser(user: string, { serverName, isEmailAllowed }: LoginRules): LoginName {
  const colon = user.indexOf(':');
  const isOurs = user.startsWith('@') && colon !== -1 && user.slice(colon + 1) === serverName;
  const exact = isOurs ? user.slice(1, colon) : user;
  const mayBeEmail = isEmailAllowed && user.includes('@') && !user.startsWith('@');
  return {
    exact,
    key: usernameKey(exact),
    emailKey: mayBeEmail ? parseStoredEmailAddress(user)?.key : undefined,
  };
}

function nameOfThirdParty(members: Members, { isEmailAllowed }: LoginRules): LoginName {
  const medium = requiredText(members, 'medium');
  const address = requiredText(members, 'address');
  if (medium !== 'email' || !isEmailAllowed) throw unsupported('this identifier type is not supported');
  return { exact: address, key: usernameKey(address), emailKey: parseStoredEmailAddress(address)?.key };
}

function deviceOf(members: Members): DeviceRequest {
  const id = optionalText(members, 'device_id');
  if (id !== undefined && !isDeviceId(id)) throw new LatchkeyError('invalid_device_id');
  return {
    id,
    name: deviceName(optionalText(members, 'initial_device_display_name')),
    canRefresh: optionalFlag(members, 'refresh_token'),
  };
}

function deviceName(text: string | undefined): string | undefined {
  const cut = [...(text ?? '').replace(/\p{Cc}/gu, '')].slice(0, MAX_DEVICE_NAME_CHARACTERS).join('');
  return cut.trim() === '' ? undefined : cut;
}

function unsupported(description: string): LatchkeyError {
  return new LatchkeyError('unsupported_login', { description });
}
