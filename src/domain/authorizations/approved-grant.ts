/** What authorization codes and device codes share when they are presented: a grant and the sign-in that approved it. */
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { admissionByClient } from '#domain/records/liveness/clients.ts';
import { type UserFactsRow, userFactsColumns } from '#domain/records/user-facts.ts';
import { ms } from '#platform/postgres/statement.ts';

/** The grant of a presented code. */
export interface PresentedGrantRow {
  readonly grant_id: string;
  readonly is_own_client: boolean;
  /** Whether the user may use the presenting client. Null: its cached record is outdated. */
  readonly client_admits: boolean | null;
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  readonly auth_time: number | null;
  readonly acr: string | null;
  readonly amr: readonly string[];
  /** Language of the page at the user's decision; null: not yet decided. */
  readonly locale: string | null;
}

/** The sign-in of the user who approved. */
interface SignInRow extends UserFactsRow {
  readonly user_id: string;
  readonly user_session_id: string;
  readonly can_request_admin: boolean;
  /** Whether the browser session that approved is live and its user is neither locked nor deactivated. */
  readonly sign_in_is_usable: boolean;
}

export type ApprovedGrantRow = PresentedGrantRow & SignInRow;

/**
 * Returns the columns of an `ApprovedGrantRow` for the grant `g`, the browser session `us` and the user `u`. Parameters:
 * `:clientId` and `:clientVersion` of the presenting client. Uses primary keys and `user_emails_user_id`.
 * @param claims an expression of type `jsonb`: the individually requested claims, or null
 */
export function approvedGrantColumns(claims: string): string {
  return `g.id as grant_id,
          g.client_id = :clientId::uuid as is_own_client,
          ${admissionByClient(':clientId::uuid', ':clientVersion::integer', 'u')} as client_admits,
          u.id as user_id,
          ${userFactsColumns('g.scope', claims)},
          u.can_request_admin,
          ${browserSessionIsLive('us')} and ${accountIsUsable('u')} as sign_in_is_usable,
          us.id as user_session_id,
          g.scope,
          g.resources,
          ${ms('g.auth_time')} as auth_time,
          g.acr,
          g.amr,
          g.locale`;
}

/** The parameters of the token request that every approved grant is compared with. */
export interface RedemptionRequest {
  readonly resources: readonly string[];
  /** Whether the requester is banned from getting tokens. */
  readonly isBanned: boolean;
}

export interface RedemptionRules<Row> {
  readonly isAdminScope: (scope: string) => boolean;
  readonly mayRequestAdmin: (row: Row) => boolean;
}

export type RedemptionRefusal = 'sign-in-gone' | 'no-access' | 'requester-banned' | 'admin-scope' | 'resource';

/** The last checks of oauth 8.2 and 10.4: whether what the user approved may still be issued. Undefined: it may. */
export function redemptionRefusal<Row extends ApprovedGrantRow>(
  row: Row,
  request: RedemptionRequest,
  rules: RedemptionRules<Row>,
): RedemptionRefusal | undefined {
  if (!row.sign_in_is_usable) return 'sign-in-gone';
  if (row.client_admits !== true) return 'no-access';
  if (request.isBanned) return 'requester-banned';
  if (row.scope.some(rules.isAdminScope) && !rules.mayRequestAdmin(row)) return 'admin-scope';
  return request.resources.some((resource) => !row.resources.includes(resource)) ? 'resource' : undefined;
}
