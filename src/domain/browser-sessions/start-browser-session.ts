import { type BrowserSessionStart, newSessionKey, type SessionCredentials } from '#domain/records/browser-session.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type AuthenticationKind, strengthOf } from '#protocol/oidc/authentication-classes.ts';

/**
 * Returns an insert of a session, to which `from` and `returning` can be appended. @param userId SQL expression of its
 * user
 */
export function insertSession(userId: string): string {
  return `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, user_agent, created_at,
      last_active_at, last_active_ip)
    select :sessionId::uuid, ${userId}, :keyHash::bytea, :now::timestamptz, :acr::text, :amr::text[],
      :userAgent::text, :now::timestamptz, :now::timestamptz, :ip::inet`;
}

/** Returns an insert that records how the user authenticated. @param session name of a CTE with the session's `id` */
export function insertAuthentication(session: string, kind: AuthenticationKind): string {
  return `insert into user_session_authentications (id, user_session_id, kind, created_at)
    select :authenticationId::uuid, ${session}.id, '${kind}', :now::timestamptz from ${session}`;
}

type StartParams = {
  readonly now: Date;
  readonly sessionId: string;
  readonly userId: string;
  readonly keyHash: Buffer;
  readonly acr: string;
  readonly amr: readonly string[];
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly authenticationId: string;
};

const startWithPassword = statement<never, StartParams>(
  'insert-browser-session',
  `with opened as (
    ${insertSession(':userId::uuid')}
    returning id
  )
  ${insertAuthentication('opened', 'password')}`,
);

const startWithUpstream = statement<never, StartParams>(
  'insert-upstream-browser-session',
  `with opened as (
    ${insertSession(':userId::uuid')}
    returning id
  )
  ${insertAuthentication('opened', 'upstream')}`,
);

/**
 * Like `insertAuthentication`, for several factors in sequence.
 * @param session name of a CTE with the session's `id`
 */
export function insertAuthentications(session: string): string {
  return `insert into user_session_authentications (id, user_session_id, kind, created_at)
    select given.id, ${session}.id, given.kind, :now::timestamptz
    from ${session}, unnest(:authenticationIds::uuid[], :authenticationKinds::text[]) as given (id, kind)`;
}

/**
 * Signs in a user who has just registered. The account is created in the same transaction, so it cannot be locked or
 * have other sessions. Uses one statement; the caller records the audit event.
 */
export async function startBrowserSession(
  transaction: Queryable,
  start: BrowserSessionStart,
): Promise<SessionCredentials> {
  const { proof } = start;
  const id = newId<'browser-session'>(start.now);
  const { key, keyHash } = newSessionKey();
  await transaction.execute(proof.kind === 'password' ? startWithPassword : startWithUpstream, {
    now: new Date(start.now),
    sessionId: toUuid(id),
    userId: toUuid(start.userId),
    keyHash,
    ...strengthOf([proof]),
    userAgent: start.userAgent ?? null,
    ip: start.address ?? null,
    authenticationId: toUuid(newId(start.now)),
  });
  return { id, key };
}
