import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { loginTokenIsValid } from '#domain/records/liveness/compat-sessions.ts';
import { userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type ValidLoginToken, validSince } from './judge-login-token.ts';
import {
  type ClientDevice,
  claimSpaceSql,
  type OpenCompatSessionDeps,
  type OpenCompatSessionOutcome,
  type OpenedRow,
  openCompatSession,
  openCompatSessionSql,
  type ProofParams,
  type RoomParams,
  type RoomRow,
  type SessionParams,
  type Waiting,
} from './open-compat-session.ts';

/**
 * Opens a session with a valid login token and consumes the token (chat-compat 5.4). Of several concurrent callers, the
 * first one gets the session.
 */
export async function openCompatSessionWithLoginToken(
  deps: OpenCompatSessionDeps,
  { loginId, user }: ValidLoginToken,
  ttlSeconds: number,
  device: ClientDevice,
  waiting: Waiting,
): Promise<OpenCompatSessionOutcome> {
  const token = (now: number): LoginTokenParams => ({ loginId, validSince: validSince(now, ttlSeconds) });
  const proof = {
    user,
    take: (params: RoomParams) => deps.database.first(claimForToken, { ...params, ...token(params.now.getTime()) }),
    statement: openWithLoginToken,
    params: (now: number) => ({ userId: toUuid(user.id), now: new Date(now), ...token(now) }),
  };
  return await openCompatSession(deps, proof, device, waiting);
}

type LoginTokenParams = { readonly loginId: string; readonly validSince: Date };

const VALID_LOGIN = `select l.id, l.user_session_id from compat_sso_logins l
     where l.id = :loginId::uuid and ${loginTokenIsValid('l', ':validSince::timestamptz')}`;

/** Rejects the loser of a race before the homeserver is notified of a device. */
const claimForToken = statement<RoomRow, RoomParams & LoginTokenParams>(
  'claim-device-for-login-token',
  claimSpaceSql(`exists (${VALID_LOGIN})`),
);

/**
 * Row locks serialize this statement with a concurrent account lock, sign-out of the browser, or exchange of the token.
 * Locks in the order users, browser sessions, sign-ons.
 */
const openWithLoginToken = statement<OpenedRow, ProofParams & LoginTokenParams & SessionParams>(
  'open-compat-session-with-login-token',
  openCompatSessionSql(
    `person as materialized (
    select ${userColumns('u')} from users u where u.id = :userId::uuid for share of u
  ), sign_in as materialized (
    select b.id from user_sessions b
     where b.id = (select valid.user_session_id from (${VALID_LOGIN}) valid)
       and b.user_id = (select person.user_id from person) and ${browserSessionIsLive('b')}
       for share of b
  ), redeemed as materialized (
    ${VALID_LOGIN} and l.user_session_id = (select sign_in.id from sign_in)
       for no key update of l
  ), account as (
    select person.user_id, person.username, person.display_name, person.locale, person.can_request_admin,
           person.is_locked, person.is_deactivated
      from person where exists (select from redeemed)
  ), proven as (
    select account.user_id from account where not account.is_locked and not account.is_deactivated
  )`,
    {
      browserSession: '(select redeemed.user_session_id from redeemed)',
      more: `exchanged as (
    update compat_sso_logins l set exchanged_at = :now::timestamptz, compat_session_id = opened.id
      from opened where l.id = :loginId::uuid
  ), `,
    },
  ),
);
