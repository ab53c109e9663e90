/** Tokens that a client presents for token exchange (RFC 8693 2.1). */

import type { Client } from '#domain/clients/client.ts';
import { clientAdmits, clientIsCurrent, clientIsEnabled } from '#domain/records/liveness/clients.ts';
import {
  accessTokenIsLive,
  ancestorsAreLive,
  oauthSessionIsLive,
  sessionUserIsUsable,
} from '#domain/records/liveness/oauth-sessions.ts';
import { groupsOfUser } from '#domain/records/user-facts.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { Actor } from './actor.ts';
import { sessionExpiry, type TokenSettings } from './token-settings.ts';

export interface SubjectRow {
  /** Null: an ID token, which has no row. */
  readonly token_id: string | null;
  readonly session_id: string;
  /** The client that the token was issued to. */
  readonly client_id: string;
  /** Null: the client's token on its own behalf. */
  readonly user_id: string | null;
  readonly username: string | null;
  readonly can_request_admin: boolean | null;
  readonly scope: readonly string[];
  readonly session_scope: readonly string[];
  readonly resources: readonly string[];
  readonly dpop_jkt: string | null;
  /** Null: expires with its session. */
  readonly expires_at: number | null;
  readonly session_created_at: number;
  readonly act: Actor | null;
  readonly auth_time: number | null;
  readonly acr: string | null;
  /** Null: not requested by the scope. */
  readonly groups: readonly string[] | null;
  /** Whether the user, if any, may use the requesting client. */
  readonly caller_admits: boolean;
  /** Whether token, session, ancestor sessions, their clients and the user are all usable. */
  readonly is_live: boolean;
}

interface Asking {
  readonly clientId: string;
  readonly clientVersion: number;
}

/** Always a row, because the requesting client may have changed. */
type FoundRow = { readonly caller_is_current: boolean } & (SubjectRow | { readonly session_id: null });

const COMMON = `s.id as session_id, s.client_id, s.user_id, u.username, u.can_request_admin, s.scope as session_scope,
         ${ms('s.created_at')} as session_created_at, s.act, ${ms('s.auth_time')} as auth_time, s.acr,
         case when 'groups' = any(s.scope) then array(${groupsOfUser('s.user_id', 'u.groups')}) end as groups,
         u.id is null or ${clientAdmits('caller', 'u')} as caller_admits`;
const SESSION_IS_LIVE = `${oauthSessionIsLive('s')} and ${ancestorsAreLive('s')} and ${clientIsEnabled('c')}
         and ${sessionUserIsUsable('s', 'u')}`;
const JOINS = 'join oauth2_clients c on c.id = s.client_id left join users u on u.id = s.user_id';
const CALLER = `(select 1) as one
    left join oauth2_clients caller
      on caller.id = :clientId::uuid and ${clientIsCurrent('caller', ':clientVersion::integer')}`;

/** Uses the unique index on `token_hash`, then primary keys. */
const findAccessToken = statement<FoundRow, Asking & { readonly tokenHash: Buffer; readonly now: Date }>(
  'subject-access-token',
  `select caller.id is not null as caller_is_current, found.* from ${CALLER} left join lateral (
    select t.id as token_id, ${COMMON}, t.scope, t.resources, t.dpop_jkt,
           ${ms("nullif(t.expires_at, 'infinity')")} as expires_at,
           ${accessTokenIsLive('t', ':now::timestamptz')} and ${SESSION_IS_LIVE} as is_live
      from oauth2_access_tokens t join oauth2_sessions s on s.id = t.session_id ${JOINS}
     where t.token_hash = :tokenHash::bytea
  ) found on true`,
);

/** Uses primary keys. An ID token is not bound to a key, but the session of a public client is. */
const findSession = statement<FoundRow, Asking & { readonly sessionId: string }>(
  'subject-session',
  `select caller.id is not null as caller_is_current, found.* from ${CALLER} left join lateral (
    select null::uuid as token_id, ${COMMON}, s.scope, s.resources, s.dpop_jkt, null::float8 as expires_at,
           ${SESSION_IS_LIVE} as is_live
      from oauth2_sessions s ${JOINS} where s.id = :sessionId::uuid
  ) found on true`,
);

export type PresentedSubject =
  /** Result of `accessTokenHash`; undefined: not an access token. */
  | { readonly kind: 'access-token'; readonly tokenHash: Buffer | undefined }
  /** The session named by the verified claims of an ID token. */
  | { readonly kind: 'session'; readonly id: string };

/**
 * Finds the session of a presented token; undefined if there is none or it is not live. Runs one statement, none for
 * text that is not an access token.
 */
export async function findSubject(
  database: Queryable,
  client: Client,
  presented: PresentedSubject,
  settings: TokenSettings,
  now: number,
): Promise<SubjectRow | 'client-changed' | undefined> {
  const asking = { clientId: toUuid(client.id), clientVersion: client.version };
  let row: FoundRow | undefined;
  if (presented.kind === 'session') row = await database.first(findSession, { ...asking, sessionId: presented.id });
  else if (presented.tokenHash !== undefined) {
    row = await database.first(findAccessToken, { ...asking, tokenHash: presented.tokenHash, now: new Date(now) });
  }
  if (row?.caller_is_current === false) return 'client-changed';
  if (row === undefined || row.session_id === null || !row.is_live) return undefined;
  return sessionExpiry(settings, row.session_created_at) > now ? row : undefined;
}
