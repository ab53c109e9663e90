/** Inputs of the policy module's rules. Names and values are as in the configuration, and no member is undefined. */
import type { PolicyRule } from './policy-module.ts';

/** IP address and user agent of the request. */
export interface RequesterInput {
  readonly ip_address: string | null;
  readonly user_agent: string | null;
}

export interface UserInput {
  readonly id: string;
  readonly username: string;
}

export interface RuleInputs extends Record<PolicyRule, object> {
  /** A user registers. */
  readonly register: {
    readonly registration_method: 'password' | 'upstream-oauth2';
    readonly username: string;
    readonly email: string | null;
    readonly requester: RequesterInput;
  };
  /** A user enters an email address, on registration or later. */
  readonly email: { readonly email: string };
  /** A user chooses a password. */
  readonly password: {
    readonly password: string;
    readonly username: string;
    readonly display_name: string | null;
    readonly emails: readonly string[];
  };
  /** A client registers itself or updates its registration. */
  readonly clientRegistration: { readonly client_metadata: object; readonly requester: RequesterInput };
  /** A user authorizes a client, or a client gets tokens. */
  readonly authorizationGrant: {
    /** Null for a client that acts for itself. */
    readonly user: (UserInput & { readonly can_request_admin: boolean }) | null;
    readonly client: { readonly id: string; readonly name: string | null; readonly is_static: boolean };
    readonly scope: readonly string[];
    readonly grant_type: string;
    /** Number of sessions of the user; null if they are not counted. */
    readonly session_count: number | null;
    readonly requester: RequesterInput;
  };
  /** A user signs in with a chat client. */
  readonly compatLogin: {
    readonly user: UserInput;
    readonly login_type: 'm.login.password' | 'm.login.token' | 'm.login.sso';
    readonly requester: RequesterInput;
  };
}

export function requesterInput(address: string | undefined, userAgent: string | undefined): RequesterInput {
  return { ip_address: address ?? null, user_agent: userAgent ?? null };
}
