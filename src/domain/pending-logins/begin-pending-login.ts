import { newId, type PendingLoginId, toUuid } from '#platform/base/ids.ts';
import { type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';

/** How long a person has for the further factor. */
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
 * An insert for statements that know what the person has proven, with `:now`, `:ip` and `:userAgent`.
 * @param of SQL expressions
 */
export function insertPendingLogin(of: {
  readonly userId: string;
  readonly firstFactor: 'password' | 'upstream';
  readonly passwordId?: string;
  readonly authorizationId?: string;
  readonly amr?: string;
  /** The session that is to get a fresh authentication. */
  readonly sessionId?: string;
  /** What a person who has to enroll is given. */
  readonly setup?: string;
  /** What is linked in the end, see `pending-link.ts`. */
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
