/** Shared parts of statements that consume a sign-in through a provider, each for one browser session. */

import { insertAuthentication, insertSession } from '#domain/browser-sessions/start-browser-session.ts';
import { newSessionKey, type SessionCredentials } from '#domain/records/browser-session.ts';
import {
  type DueFactor,
  type DueFactorParams,
  dueFactorParams,
  type SecondFactorRules,
} from '#domain/records/due-factor.ts';
import { authorizationIsUnconsumed, completedAfter } from '#domain/records/liveness/upstream-authorizations.ts';
import {
  insertPendingLogin,
  newPendingLogin,
  type PendingLoginParams,
} from '#domain/second-factors/begin-pending-login.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { BrowserSessionId, PendingLoginId } from '#vocabulary/ids.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import { namedMethods } from './named-methods.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/** The sign-in to consume. */
export interface UsedAuthorization {
  readonly provider: UpstreamProvider;
  readonly completed: CompletedAuthorization;
  /** IP address of the consuming request. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** Parameters of `consumeAuthorization`. */
export interface ConsumeParameters {
  readonly now: Date;
  readonly authorizationId: string;
  readonly linkId: string;
  readonly completedAfter: Date;
  readonly sessionId: string;
}

export function consumeParameters(
  completed: CompletedAuthorization,
  session: BrowserSessionId,
  now: number,
): ConsumeParameters {
  return {
    now: new Date(now),
    authorizationId: toUuid(completed.id),
    linkId: toUuid(completed.linkId),
    completedAfter: completedAfter(now),
    sessionId: toUuid(session),
  };
}

/**
 * Returns an update. Callers can append conditions and `returning`.
 * @param from relation without which nothing is consumed, if it has no row
 * @param session expression of the session that consumes it
 */
export function consumeAuthorization(from: string, session = ':sessionId::uuid'): string {
  return `update upstream_authorizations a set consumed_at = :now::timestamptz, user_session_id = ${session}
      from ${from}
     where a.id = :authorizationId::uuid and a.link_id = :linkId::uuid
       and ${authorizationIsUnconsumed('a', ':completedAfter::timestamptz')}`;
}

/** A CTE that records the use of the link. Follows the CTE `consumed`. */
export const USED_LINK = `used_link as (
    update upstream_links used set last_used_at = :now::timestamptz from consumed where used.id = :linkId::uuid
  )`;

/** How the user authenticated, for the session's authentication and the audit event. */
export interface EvidenceParameters {
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly authenticationId: string;
}

export function evidenceParameters(
  { address, userAgent }: Pick<UsedAuthorization, 'address' | 'userAgent'>,
  now: number,
): EvidenceParameters {
  return { userAgent: userAgent ?? null, ip: address ?? null, authenticationId: toUuid(newId(now)) };
}

/** Parameters of `upstreamSessionCtes`. */
export interface UpstreamSessionParameters
  extends ConsumeParameters,
    EvidenceParameters,
    DueFactorParams,
    PendingLoginParams {
  readonly keyHash: Buffer;
  readonly acr: string;
  readonly amr: readonly string[];
}

/** Data of a sign-in that a pending second factor needs. */
export interface UpstreamSignIn {
  /** What the user does after sign-in. */
  readonly action: PostAuthAction | undefined;
  /** Nonce of the account in this browser; undefined if the account was not used here. */
  readonly nonce: string | undefined;
}

/** The user is not signed in until they have also provided this factor. */
export interface UpstreamFactorDue {
  readonly ok: false;
  readonly reason: 'factor-due';
  readonly pending: PendingLoginId;
  readonly factor: DueFactor;
}

/** Prepares a browser session for a sign-in through a provider. */
export function newUpstreamSession(
  used: UsedAuthorization & UpstreamSignIn,
  { isRequiredAfterUpstream }: Pick<SecondFactorRules, 'isRequiredAfterUpstream'>,
  now: number,
): {
  readonly session: SessionCredentials;
  readonly pending: PendingLoginId;
  readonly parameters: UpstreamSessionParameters;
} {
  const id = newId<'browser-session'>(now);
  const { key, keyHash } = newSessionKey();
  const pending = newPendingLogin(used.action, now);
  const parameters = {
    ...dueFactorParams(isRequiredAfterUpstream ? 'optional' : 'off', used.nonce),
    ...pending.params,
    ...consumeParameters(used.completed, id, now),
    ...evidenceParameters(used, now),
    keyHash,
    ...strengthOf([{ kind: 'upstream', amr: namedMethods(used.provider, used.completed.answer) }]),
  };
  return { session: { id, key }, pending: pending.id, parameters };
}

/** The session for `consumeAuthorization` if a further factor may be due. Follows the CTE `due`. */
export const SESSION_IF_ENOUGH = '(select :sessionId::uuid from due where due.factor is null)';

/**
 * Returns the CTEs `opened` and `authenticated`, which follow the CTEs `due` and `consumed`. If a further factor is
 * due, a pending login is started instead of the session.
 * @param userId SQL expression of the session's user, which may refer to `consumed`
 * @param link SQL expression of the link to add when the pending login completes, see `pending-link.ts`; omitted for
 * none
 */
export function upstreamSessionCtes(userId: string, link?: string): string {
  return `opened as (
    ${insertSession(userId)} from consumed cross join due where due.factor is null
    returning id, user_id
  ), authenticated as (
    ${insertAuthentication('opened', 'upstream')}
  ), pending as (
    ${insertPendingLogin({
      userId,
      firstFactor: 'upstream',
      authorizationId: ':authorizationId::uuid',
      amr: ':amr::text[]',
      ...(link !== undefined && { link }),
    })}
    from consumed cross join due where due.factor is not null
    returning id
  )`;
}
