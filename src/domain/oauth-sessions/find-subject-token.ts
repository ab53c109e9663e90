/** Tokens that a client brings to have them exchanged for one of its own (RFC 8693 2.1). */
import { groupsOfUser } from '#domain/accounts/user-facts.ts';
import type { Client } from '#domain/clients/client.ts';
import { clientIsEnabled, clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { Actor } from './actor.ts';
import { accessTokenIsLive, ancestorsAreLive, oauthSessionIsLive, sessionUserIsUsable } from './liveness.ts';
import { sessionExpiry, type TokenSettings } from './token-settings.ts';

export interface SubjectRow {
  /** Null: an ID token, which has no row. */
  readonly token_id: string | null;
  readonly session_id: string;
  /** The client that it was issued to. */
  readonly client_id: string;
  /** Null: a token of a client itself. */
  readonly user_id: string | null;
  readonly username: string | null;
  readonly can_request_admin: boolean | null;
  readonly scope: readonly string[];
  readonly session_scope: readonly string[];
  readonly resources: readonly string[];
  readonly dpop_jkt: string | null;
  /** Null: only with its session. */
  readonly expires_at: number | null;
  readonly session_created_at: number;
  readonly act: Actor | null;
  readonly auth_time: number | null;
  readonly acr: string | null;
  /** Null: the scope does not ask for them. */
  readonly groups: readonly string[] | null;
  /** Token, session, the sessions before it, their clients and the person are all usable. */
  readonly is_live: boolean;
}

interface Asking {
  readonly clientId: string;
  readonly clientVersion: number;
}

/** A row in any case: the client that asks may have changed. */
type FoundRow = { readonly caller_is_current: boolean } & (SubjectRow | { readonly session_id: null });

const COMMON = `s.id as session_id, s.client_id, s.user_id, u.username, u.can_request_admin, s.scope as session_scope,
         ${ms('s.created_at')} as session_created_at, s.act, ${ms('s.auth_time')} as auth_time, s.acr,
         case when 'groups' = any(s.scope) then array(${groupsOfUser('s.user_id', 'u.groups')}) end as groups`;
const SESSION_IS_LIVE = `${oauthSessionIsLive('s')} and ${ancestorsAreLive('s')} and ${clientIsEnabled('c')}
         and ${sessionUserIsUsable('s', 'u')}`;
const JOINS = 'join oauth2_clients c on c.id = s.client_id left join users u on u.id = s.user_id';
const ASKED = `(select ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as caller_is_current) asked`;

/** Unique index on `token_hash`, then primary keys. */
const findAccessToken = statement<FoundRow, Asking & { readonly tokenHash: Buffer; readonly now: Date }>(
  'subject-access-token',
  `select asked.caller_is_current, found.* from ${ASKED} left join lateral (
    select t.id as token_id, ${COMMON}, t.scope, t.resources, t.dpop_jkt,
           ${ms("nullif(t.expires_at, 'infinity')")} as expires_at,
           ${accessTokenIsLive('t', ':now::timestamptz')} and ${SESSION_IS_LIVE} as is_live
      from oauth2_access_tokens t join oauth2_sessions s on s.id = t.session_id ${JOINS}
     where t.token_hash = :tokenHash::bytea
  ) found on true`,
);

/** Primary keys. An ID token is not bound to a key; the session of a public client is. */
const findSession = statement<FoundRow, Asking & { readonly sessionId: string }>(
  'subject-session',
  `select asked.caller_is_current, found.* from ${ASKED} left join lateral (
    select null::uuid as token_id, ${COMMON}, s.scope, s.resources, s.dpop_jkt, null::float8 as expires_at,
           ${SESSION_IS_LIVE} as is_live
      from oauth2_sessions s ${JOINS} where s.id = :sessionId::uuid
  ) found on true`,
);

export type PresentedSubject =
  /** `accessTokenHash`; undefined: no access token by its form. */
  | { readonly kind: 'access-token'; readonly tokenHash: Buffer | undefined }
  /** The session that an ID token names, by its verified claims. */
  | { readonly kind: 'session'; readonly id: string };

/**
 * What stands behind a token that was presented; undefined when there is nothing, or it is not live. One statement, none
 * for a text that is no access token by its form.
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
