import { newId, toUuid } from '#platform/base/ids.ts';
import { type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';

/** How long a user has to provide the further factor. */
const LIFETIME_MS = 10 * 60_000;

/** Parameters of `insertPendingLogin`. */
export interface PendingLoginParams {
  readonly pendingId: string;
  readonly pendingUntil: Date;
  readonly postAuthAction: string | null;
}

export function newPendingLogin(
  action: PostAuthAction | undefined,
  now: number,
): { readonly id: PendingLoginId; readonly params: PendingLoginParams } {
  const id = newId<'pending-login'>(now);
  const fields = postAuthActionFields(action);
  return {
    id,
    params: {
      pendingId: toUuid(id),
      pendingUntil: new Date(now + LIFETIME_MS),
      postAuthAction: fields.length === 0 ? null : JSON.stringify(Object.fromEntries(fields)),
    },
  };
}

/**
 * Returns an insert, for statements that know which factor the user has proven. Expects `:now`, `:ip` and `:userAgent`.
 * @param of SQL expressions
 */
export function insertPendingLogin(of: {
  readonly userId: string;
  readonly firstFactor: 'password' | 'upstream';
  readonly passwordId?: string;
  readonly authorizationId?: string;
  readonly amr?: string;
  /** The session to reauthenticate. */
  readonly sessionId?: string;
  /** Enrollment data, for a user who must enroll. */
  readonly setup?: string;
  /** Identity to link on completion, see `pending-link.ts`. */
  readonly link?: string;
}): string {
  return `insert into user_pending_logins (id, user_id, user_session_id, first_factor, password_id,
      upstream_authorization_id, upstream_amr, post_auth_action, ip, user_agent, setup_sealed, link_on_completion, created_at,
      expires_at)
    select :pendingId::uuid, ${of.userId}, ${of.sessionId ?? 'null::uuid'}, '${of.firstFactor}',
      ${of.passwordId ?? 'null::uuid'}, ${of.authorizationId ?? 'null::uuid'}, ${of.amr ?? `'{}'::text[]`},
      :postAuthAction::jsonb, :ip::inet, :userAgent::text, ${of.setup ?? 'null::bytea'},
      ${of.link ?? 'null::jsonb'}, :now::timestamptz, :pendingUntil::timestamptz`;
}
