import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { type UserFactsRow, userFactsColumns } from '#domain/accounts/user-facts.ts';
import { grantHasCode } from '#domain/authorizations/liveness.ts';
import { browserSessionIsLive } from '#domain/browser-sessions/liveness.ts';
import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** What a presented authorization code amounts to: its grant, its sign-in and the client that presents it. */
export interface CodeRow extends UserFactsRow {
  readonly grant_id: string;
  readonly is_own_client: boolean;
  /** False: the cached record of the presenting client is out of date. */
  readonly client_is_current: boolean;
  readonly user_id: string;
  readonly can_request_admin: boolean;
  /** The browser session that consented still lives, and its user is neither locked nor deactivated. */
  readonly sign_in_is_usable: boolean;
  readonly user_session_id: string;
  readonly redirect_uri: string;
  readonly redirect_uri_sent: boolean;
  readonly scope: readonly string[];
  /** Asked for one by one; see `claimsFromJson`. */
  readonly claims: unknown;
  readonly resources: readonly string[];
  readonly nonce: string | null;
  readonly code_challenge: string | null;
  readonly auth_time: number | null;
  readonly acr: string | null;
  readonly amr: readonly string[];
  readonly fulfilled_at: number;
  readonly exchanged_at: number | null;
  readonly is_cancelled: boolean;
  readonly oauth2_session_id: string | null;
}

/** Unique index on `code_hash`, then primary keys and `user_emails_user_id`. */
export const readCode = statement<
  CodeRow,
  { readonly codeHash: Buffer; readonly clientId: string; readonly clientVersion: number }
>(
  'code-by-hash',
  `select g.id as grant_id,
          g.client_id = :clientId::uuid as is_own_client,
          ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
          u.id as user_id,
          ${userFactsColumns('g.scope', 'g.claims')},
          u.can_request_admin,
          ${browserSessionIsLive('us')} and ${accountIsUsable('u')} as sign_in_is_usable,
          us.id as user_session_id,
          g.redirect_uri,
          g.redirect_uri_sent,
          g.scope,
          g.claims,
          g.resources,
          g.nonce,
          g.code_challenge,
          ${ms('g.auth_time')} as auth_time,
          g.acr,
          g.amr,
          ${ms('g.fulfilled_at')} as fulfilled_at,
          ${ms('g.exchanged_at')} as exchanged_at,
          g.cancelled_at is not null as is_cancelled,
          g.oauth2_session_id
     from oauth2_authorization_grants g
     join user_sessions us on us.id = g.user_session_id
     join users u on u.id = us.user_id
    where g.code_hash = :codeHash::bytea and ${grantHasCode('g')}`,
);
