/**
 * Single sign-ons of chat clients, table `compat_sso_logins` (chat-compat 8, 9); each state change of a row has its own
 * file.
 *
 * pending (a client opened the browser) -> fulfilled (the user consented, and the browser hands the login token to the
 * client) -> exchanged (the client has a session); pending -> expired by time. A login token is valid for seconds, and
 * stored only as a digest.
 *
 * `features/chat-compat` contains the pages; `logins/` opens the session.
 */
import { fromUuid } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { CompatSsoLoginId, UpstreamProviderId } from '#vocabulary/ids.ts';

/** A single sign-on as its page needs it. */
export interface SsoLogin {
  readonly id: CompatSsoLoginId;
  readonly redirectUri: string;
  /** Suggested by the client. */
  readonly providerId: UpstreamProviderId | undefined;
  /** Milliseconds since the epoch; irrelevant once the user has consented. */
  readonly expiresAt: number;
  readonly isFulfilled: boolean;
}

/** The columns that `ssoLoginColumns` selects. */
export interface SsoLoginRow {
  readonly login_id: string;
  readonly login_redirect_uri: string;
  readonly login_provider_id: string | null;
  readonly login_expires_at: number;
  readonly login_is_fulfilled: boolean;
}

/** Returns the columns that `toSsoLogin` reads, for this alias of `compat_sso_logins`; for joined reads. */
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
