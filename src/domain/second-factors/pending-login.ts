/**
 * Sign-ins that wait for another factor, table `user_pending_logins` (browser-flows 4.1). A cookie of the browser that
 * started it identifies a pending login. It is not a session and only allows the user to provide a factor. It stays
 * open until it is completed, ends after wrong codes, or expires.
 *
 * A pending login with a session is a reauthentication in that session, which the first factor alone does not renew.
 *
 * This folder also owns `user_trusted_browsers`. It does not know sessions: `login-completion` opens and renews them.
 */

import { firstFactorStands, pendingLoginIsOpen } from '#domain/records/liveness/pending-logins.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { VerifiedFactor } from '#protocol/oidc/authentication-classes.ts';
import { type PostAuthAction, parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { BrowserSessionId, PendingLoginId, UpstreamAuthorizationId } from '#vocabulary/ids.ts';
import { type PendingLink, type PendingLinkRow, toPendingLink } from './pending-link.ts';

export interface PendingLogin {
  readonly id: PendingLoginId;
  readonly user: User;
  /** The session to reauthenticate; undefined to open one. */
  readonly sessionId: BrowserSessionId | undefined;
  readonly firstFactor: Extract<VerifiedFactor, { readonly kind: 'password' | 'upstream' }>;
  /** The upstream sign-in that was the first factor. */
  readonly authorizationId: UpstreamAuthorizationId | undefined;
  /** The upstream identity to link on completion; undefined if it is already linked. */
  readonly link: PendingLink | undefined;
  readonly action: PostAuthAction | undefined;
  /** The user has one-time codes. */
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
  /** Enrollment data, see `factor-setup.ts`; undefined if the user already has a factor. */
  readonly setupSealed: Buffer | undefined;
  /** The user has enrolled during this login and is shown the recovery codes. */
  readonly isEnrolled: boolean;
}

type PendingLoginRow = UserRow & {
  readonly id: string;
  readonly user_session_id: string | null;
  readonly first_factor: string;
  readonly upstream_authorization_id: string | null;
  readonly upstream_amr: readonly string[];
  readonly link_on_completion: PendingLinkRow | null;
  readonly post_auth_action: Readonly<Record<string, string>> | null;
  readonly setup_sealed: Buffer | null;
  readonly is_enrolled: boolean;
  readonly has_totp: boolean;
  readonly has_passkey: boolean;
};

const findOpen = statement<PendingLoginRow, { readonly id: string; readonly now: Date }>(
  'find-pending-login',
  `select l.id, l.user_session_id, l.first_factor, l.upstream_authorization_id, l.upstream_amr,
          l.link_on_completion, l.post_auth_action, l.setup_sealed, l.enrolled_at is not null as is_enrolled, ${userColumns('u')},
          exists (select from user_totp_secrets enrolled where enrolled.user_id = l.user_id) as has_totp,
          exists (select from user_passkeys device where device.user_id = l.user_id) as has_passkey
     from user_pending_logins l join users u on u.id = l.user_id
    where l.id = :id::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')} and ${firstFactorStands('l')}`,
);

/**
 * Finds an open pending login with its account, which may be locked or deactivated by now.
 * @param protocolName names the actions of the chat protocol, see `parsePostAuthAction`
 */
export async function findPendingLogin(
  queryable: Queryable,
  id: PendingLoginId,
  { protocolName, now }: { readonly protocolName: string; readonly now: number },
): Promise<PendingLogin | undefined> {
  const row = await queryable.first(findOpen, { id: toUuid(id), now: new Date(now) });
  if (row === undefined) return undefined;
  const { user_session_id: session, upstream_authorization_id: authorization, link_on_completion: link } = row;
  return {
    id,
    user: toUser(row),
    sessionId: session === null ? undefined : fromUuid<'browser-session'>(session),
    firstFactor: row.first_factor === 'password' ? { kind: 'password' } : { kind: 'upstream', amr: row.upstream_amr },
    authorizationId: authorization === null ? undefined : fromUuid<'upstream-authorization'>(authorization),
    link: link === null ? undefined : toPendingLink(link),
    action: parsePostAuthAction(FormParameters.of(row.post_auth_action ?? {}), protocolName),
    hasTotp: row.has_totp,
    hasPasskey: row.has_passkey,
    setupSealed: row.setup_sealed ?? undefined,
    isEnrolled: row.is_enrolled,
  };
}
