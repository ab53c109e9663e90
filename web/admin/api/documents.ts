/** Documents of the admin API (operations 4.2), as far as the pages show them. */

export interface Resource<Attributes> {
  readonly id: string;
  readonly attributes: Attributes;
}

export interface Single<Attributes> {
  readonly data: Resource<Attributes>;
}

export interface List<Attributes> {
  readonly data: readonly Resource<Attributes>[];
  readonly links: { readonly next?: string; readonly prev?: string };
}

/** The response with `count=only`. */
export interface Count {
  readonly meta: { readonly count: number };
}

export interface User {
  readonly username: string;
  readonly display_name: string | null;
  readonly email: string | null;
  readonly created_at: string;
  readonly locked_at: string | null;
  readonly deactivated_at: string | null;
  readonly admin: boolean;
}

export interface UserEmail {
  readonly email: string;
  readonly primary: boolean;
}

/** How a user signs in, and what belongs to the account. */
export interface UserDetails {
  readonly language: string | null;
  readonly has_password: boolean;
  readonly authenticator_app: { readonly created_at: string; readonly last_used_at: string | null } | null;
  readonly recovery_codes: { readonly total: number; readonly remaining: number };
  readonly passkeys: readonly {
    readonly id: string;
    readonly name: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
  }[];
  readonly linked_accounts: number;
  readonly accepted_terms: readonly { readonly uri: string; readonly accepted_at: string }[];
  readonly sessions: {
    readonly browser: number;
    readonly oauth2: number;
    readonly compat: number;
    readonly personal: number;
  };
  readonly last_active_at: string | null;
}

/** A personal access token, without its value. */
export interface PersonalSession {
  readonly human_name: string;
  readonly scope: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly expires_at: string | null;
  readonly last_active_at: string | null;
  readonly last_active_ip: string | null;
}

/** A personal access token that was just created. */
export interface PersonalToken extends PersonalSession {
  readonly access_token: string;
}

export interface UserClaims {
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A session of any kind; members that its kind does not have are absent. */
export interface Session {
  readonly created_at: string;
  readonly user_agent?: string | null;
  readonly last_active_at: string | null;
  readonly last_active_ip: string | null;
  readonly client_id?: string;
  readonly device_id?: string | null;
  readonly human_name?: string | null;
  readonly scope?: string;
}

export interface AuditEvent {
  readonly kind: string;
  readonly created_at: string;
  readonly actor: { readonly type: string; readonly username?: string | null } | null;
  readonly operation: string | null;
  readonly address: string | null;
  readonly user_agent: string | null;
}

export interface Client {
  readonly client_name: string | null;
}

/** The response to a request for a recovery link. */
export interface RecoveryLink {
  readonly meta: { readonly url: string | null; readonly expires_at: string | null };
}

export interface UserGroups {
  readonly groups: readonly string[];
  readonly upstream: readonly { readonly provider_id: string; readonly groups: readonly string[] }[];
}

export interface UpstreamLink {
  readonly provider_id: string;
  readonly subject: string;
  readonly human_account_name: string | null;
}

export interface UpstreamProvider {
  readonly human_name: string | null;
  readonly issuer: string | null;
}

export interface Client {
  readonly client_id: string;
  readonly client_name: string | null;
  readonly kind: 'static' | 'managed' | 'dynamic' | 'builtin';
  readonly redirect_uris: readonly string[];
  readonly access: 'everyone' | 'groups' | 'nobody';
  readonly token_endpoint_auth_method: string;
  readonly created_at: string;
  readonly updated_at: string | null;
  readonly disabled_at: string | null;
  readonly last_used_at: string | null;
  readonly active_sessions: number;
}

export interface ClientSecret {
  readonly current: boolean;
  readonly created_at: string | null;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
}

/** A client with its properties, which have the names of the configuration. */
export interface ClientDetails extends Client {
  readonly secrets: readonly ClientSecret[];
  readonly overridden: readonly string[];
  readonly [property: string]: unknown;
}

/** A record, and a secret that is shown once. */
export interface WithSecret<Attributes> extends Single<Attributes> {
  readonly meta?: { readonly client_secret?: string };
}

export interface ClientConnection {
  readonly issuer: string;
  readonly discovery_url: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri: string;
  readonly end_session_endpoint: string;
  readonly device_authorization_endpoint: string | null;
  readonly client_id: string;
  readonly client_auth_method: string;
  readonly has_secret: boolean;
  readonly scopes: readonly string[];
  readonly groups_claim: string | null;
  readonly redirect_uris: readonly string[];
  readonly preset: string | null;
}

export interface ClientPreset {
  readonly slug: string;
  readonly name: string;
  readonly url: { readonly example: string; readonly note: string | null } | null;
  readonly registers_itself: boolean;
  /** Templates. */
  readonly client: {
    readonly client_auth_method: string;
    readonly application_type?: string;
    readonly redirect_uris: readonly string[];
    readonly post_logout_redirect_uris?: readonly string[];
    readonly backchannel_logout_uri?: string;
    readonly grant_types?: readonly string[];
  };
  readonly scopes: readonly string[];
  readonly steps: readonly (
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'fields'; readonly fields: readonly { readonly label: string; readonly value: string }[] }
    | { readonly kind: 'file'; readonly name: string; readonly content: string }
    | { readonly kind: 'command'; readonly content: string }
  )[];
}

export interface ClientTest {
  readonly findings: readonly {
    readonly code: string;
    readonly status: 'ok' | 'warning' | 'error';
    readonly member: string;
    readonly url: string | null;
    readonly message: string;
    readonly remedy: string;
  }[];
}

export interface AdminActionEvent {
  readonly created_at: string;
  readonly actor: { readonly username?: string | null; readonly type: string };
  readonly target: { readonly id: string } | null;
}

export interface StatisticsOverview {
  readonly data: {
    readonly users: { readonly active: number; readonly locked: number; readonly deactivated: number };
    readonly sessions: Readonly<Record<'browser' | 'oauth2' | 'compat' | 'personal', number>>;
    readonly clients: Readonly<Record<'static' | 'managed' | 'dynamic', number>>;
    readonly jobs: { readonly waiting: number; readonly failed: number };
    readonly active_users: { readonly today: number; readonly last_7_days: number; readonly last_30_days: number };
    readonly complete_until: string | null;
  };
}

export interface StatisticsSeries {
  readonly data: { readonly points: readonly { readonly at: string; readonly value: number | null }[] };
}

export interface Group {
  readonly name: string;
  readonly description: string | null;
  readonly created_at: string;
  readonly external: boolean;
  readonly member_count: number;
  readonly pending: 'renaming' | 'deleting' | null;
}

export interface GroupDetails extends Group {
  readonly clients: readonly { readonly id: string; readonly client_name: string | null; readonly kind: string }[];
}

/** An event with all its facts. */
export interface AuditEventDetails {
  readonly kind: string;
  readonly created_at: string;
  readonly user_id: string | null;
  readonly username: string | null;
  readonly actor: {
    readonly type: 'user' | 'admin' | 'operator' | 'system' | 'anonymous';
    readonly id: string | null;
    readonly username: string | null;
  };
  readonly client_id: string | null;
  readonly session_id: string | null;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly outcome: 'ok' | 'failed';
  readonly operation: string | null;
  readonly target: { readonly type: string; readonly id: string } | null;
  readonly changed: readonly string[];
  readonly request_id: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A session of any kind. */
export interface ListedSession {
  readonly user_id: string | null;
  readonly username: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly last_active_at: string | null;
  readonly last_active_ip: string | null;
  readonly user_agent: string | null;
  /** Only of applications. */
  readonly client_id?: string;
  readonly client_name?: string | null;
  /** Only of chat clients. */
  readonly device_id?: string | null;
  readonly human_name?: string | null;
}

export interface Job {
  readonly queue: string;
  readonly status: 'available' | 'scheduled' | 'running' | 'failed' | 'dead';
  readonly attempt: number;
  readonly created_at: string;
  readonly scheduled_at: string | null;
  readonly failed_at: string | null;
  readonly failed_reason: string | null;
  readonly queued_by: string | null;
  readonly payload: unknown;
}
