import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Client } from '#domain/clients/client.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { clientWithIdIsCurrentAndAdmits } from '#domain/records/liveness/clients.ts';
import { accessTokenIsLive, oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { OAuth2SessionId } from '#vocabulary/ids.ts';
import type { Actor } from './actor.ts';
import type { SubjectRow } from './find-subject-token.ts';
import type { TokenTarget } from './open-session.ts';
import { accessTokenExpiry, sessionExpiry, type TokenSettings } from './token-settings.ts';

export interface Exchange {
  readonly client: Client;
  readonly subject: SubjectRow & { readonly user_id: string };
  /** Undefined: no actor other than the user. */
  readonly actor: Actor | undefined;
  readonly target: TokenTarget;
  /** Upper bound of the scopes of the child session's tokens. */
  readonly sessionScope: readonly string[];
  /** Expiry of the subject ID token, in milliseconds since the epoch. */
  readonly endsAt: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export interface ExchangedToken {
  readonly sessionId: OAuth2SessionId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Exchanges a token for an access token (RFC 8693) that expires no later than the subject token. The new token belongs
 * to a child session of the subject's session. Exchanges with the same client, actor and session scope share a child
 * session, so that a service which exchanges with every request does not flood users' session lists. Marks the first
 * use of the subject token. Uses one statement.
 * @returns undefined if the client, user, subject token or its session has changed since it was read
 */
export async function exchangeToken(
  database: Queryable,
  exchange: Exchange,
  settings: TokenSettings,
  now: number,
): Promise<ExchangedToken | undefined> {
  const { client, subject, actor, target, sessionScope, address, userAgent } = exchange;
  const accessToken = newToken('mat');
  const expiresAt = Math.min(
    accessTokenExpiry(settings, target.resources, now, now),
    sessionExpiry(settings, subject.session_created_at),
    subject.expires_at ?? Number.POSITIVE_INFINITY,
    exchange.endsAt,
  );
  const stored = await database.first(storeExchange, {
    clientId: toUuid(client.id),
    clientVersion: client.version,
    userId: subject.user_id,
    parentId: subject.session_id,
    subjectTokenId: subject.token_id,
    sessionId: toUuid(newId(now)),
    sessionScope,
    act: actor === undefined ? null : JSON.stringify(actor),
    userAgent: userAgent ?? null,
    ip: address ?? null,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(accessToken),
    accessTokenExpiresAt: new Date(expiresAt),
    tokenScope: target.scope,
    resources: target.resources,
    tokenKey: target.key ?? null,
  });
  return stored === undefined ? undefined : { sessionId: fromUuid(stored.session_id), accessToken, expiresAt };
}

/**
 * Locks the user, the parent session and the subject token against a concurrent account lock or session end, in the
 * order of `redeemSql`: users, sessions, tokens. Uses primary keys and `oauth2_sessions_parent`.
 */
const storeExchange = statement<
  { readonly session_id: string },
  {
    readonly clientId: string;
    readonly clientVersion: number;
    readonly userId: string;
    readonly parentId: string;
    readonly subjectTokenId: string | null;
    readonly sessionId: string;
    readonly sessionScope: readonly string[];
    readonly act: string | null;
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly now: Date;
    readonly auditEventId: string;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date;
    readonly tokenScope: readonly string[];
    readonly resources: readonly string[];
    readonly tokenKey: string | null;
  }
>(
  'exchange-token',
  `with account as materialized (
    select id, groups from users where id = :userId::uuid and ${accountIsUsable('users')} for share
  ), parent as materialized (
    select p.id, p.locale, p.auth_time, p.acr, p.amr from oauth2_sessions p
     where p.id = :parentId::uuid and p.user_id = :userId::uuid and ${oauthSessionIsLive('p')}
       and exists (select from account)
       for share
  ), child as materialized (
    select s.id from oauth2_sessions s
     where s.parent_session_id = :parentId::uuid and s.client_id = :clientId::uuid and ${oauthSessionIsLive('s')}
       and s.act is not distinct from :act::jsonb and s.scope = :sessionScope::text[] and exists (select from parent)
     order by s.id limit 1
       for share
  ), subject as materialized (
    select id, first_used_at from oauth2_access_tokens t
     where t.id = :subjectTokenId::uuid and ${accessTokenIsLive('t', ':now::timestamptz')}
       and exists (select from parent) and (select count(*) from child) >= 0
       for no key update
  ), marked as (
    update oauth2_access_tokens t set first_used_at = :now::timestamptz
      from subject where t.id = subject.id and subject.first_used_at is null
  ), allowed as materialized (
    select parent.* from parent
     where (:subjectTokenId::uuid is null or exists (select from subject))
       and ${clientWithIdIsCurrentAndAdmits(':clientId::uuid', ':clientVersion::integer', 'account')}
  ), opened as (
    insert into oauth2_sessions (id, user_id, client_id, parent_session_id, scope, act, locale, user_agent, auth_time, acr,
      amr, created_at)
    select :sessionId::uuid, :userId::uuid, :clientId::uuid, id, :sessionScope::text[], :act::jsonb, locale,
           :userAgent::text, auth_time, acr, amr, :now::timestamptz
      from allowed where not exists (select from child)
    returning id, client_id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_started', :userId::uuid, client_id, id, :ip::inet, :userAgent::text,
           '{"by": "token_exchange"}'::jsonb, :now::timestamptz
      from opened
  )
  insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, dpop_jkt, created_at, expires_at)
  select :accessTokenId::uuid, session.id, :accessTokenHash::bytea, :tokenScope::text[], :resources::text[],
         :tokenKey::text, :now::timestamptz, :accessTokenExpiresAt::timestamptz
    from (select child.id from child join allowed on true union all select opened.id from opened) session
  returning session_id`,
);
