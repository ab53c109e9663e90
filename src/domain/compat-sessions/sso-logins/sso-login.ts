/**
 * Single sign-ons of chat clients, table `compat_sso_logins` (chat-compat 8, 9); one file for each thing that happens to
 * a row.
 *
 * pending (a client sent somebody to the browser) -> fulfilled (the person agreed, and the browser takes the login token
 * to the client) -> exchanged (the client has a session for it); pending -> expired by time. A login token lives for
 * seconds, and is stored as a digest only.
 *
 * The pages are those of `features/chat-compat`; the session is opened by `logins/`.
 */
import { type CompatSsoLoginId, fromUuid, type UpstreamProviderId } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';

/** As its page needs it. */
export interface SsoLogin {
  readonly id: CompatSsoLoginId;
  readonly redirectUri: string;
  /** Proposed by the client. */
  readonly providerId: UpstreamProviderId | undefined;
  /** Milliseconds since the epoch; counts while nobody has agreed. */
  readonly expiresAt: number;
  readonly isFulfilled: boolean;
}

/** What `ssoLoginColumns` selects. */
export interface SsoLoginRow {
  readonly login_id: string;
  readonly login_redirect_uri: string;
  readonly login_provider_id: string | null;
  readonly login_expires_at: number;
  readonly login_is_fulfilled: boolean;
}

/** The columns that `toSsoLogin` reads, of `compat_sso_logins` under this alias; for joined reads. */
export function ssoLoginColumns(alias: string): string {
  return `${alias}.id as login_id,
    ${alias}.redirect_uri as login_redirect_uri,
    ${alias}.upstream_provider_id as login_provider_id,
    ${ms(`${alias}.expires_at`)} as login_expires_at,
    ${alias}.fulfilled_at is not null as login_is_fulfilled`;
}

export function toSsoLogin(row: SsoLoginRow): SsoLogin {
  return {
    id: fromUuid<'compat-sso-login'>(row.login_id),
    redirectUri: row.login_redirect_uri,
    providerId: row.login_provider_id === null ? undefined : fromUuid<'upstream-provider'>(row.login_provider_id),
    expiresAt: row.login_expires_at,
    isFulfilled: row.login_is_fulfilled,
  };
}
