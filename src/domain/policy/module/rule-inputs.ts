/** What the rules of the policy module are asked about. Names and texts as in the configuration, nothing is undefined. */
import type { PolicyRule } from './policy-module.ts';

/** From where and with which program it is asked for. */
export interface RequesterInput {
  readonly ip_address: string | null;
  readonly user_agent: string | null;
}

export interface UserInput {
  readonly id: string;
  readonly username: string;
}

export interface RuleInputs extends Record<PolicyRule, object> {
  /** Somebody wants to make an account. */
  readonly register: {
    readonly registration_method: 'password' | 'upstream-oauth2';
    readonly username: string;
    readonly email: string | null;
    readonly requester: RequesterInput;
  };
  /** Somebody gives an e-mail address, at the registration or later. */
  readonly email: { readonly email: string };
  /** Somebody chooses a password. */
  readonly password: {
    readonly password: string;
    readonly username: string;
    readonly display_name: string | null;
    readonly emails: readonly string[];
  };
  /** A client registers itself, or changes its registration. */
  readonly clientRegistration: { readonly client_metadata: object; readonly requester: RequesterInput };
  /** A person lets a client in, or a client gets tokens. */
  readonly authorizationGrant: {
    /** Null for a client that acts for itself. */
    readonly user: (UserInput & { readonly can_request_admin: boolean }) | null;
    readonly client: { readonly id: string; readonly name: string | null; readonly is_static: boolean };
    readonly scope: readonly string[];
    readonly grant_type: string;
    /** How many the person has; null where that is not counted. */
    readonly session_count: number | null;
    readonly requester: RequesterInput;
  };
  /** A person signs a chat client in. */
  readonly compatLogin: {
    readonly user: UserInput;
    readonly login_type: 'm.login.password' | 'm.login.token' | 'm.login.sso';
    readonly requester: RequesterInput;
  };
}

export function requesterInput(address: string | undefined, userAgent: string | undefined): RequesterInput {
  return { ip_address: address ?? null, user_agent: userAgent ?? null };
}
