/** What the statements share that use up a sign-in through a provider, each for one browser session. */
import { newSessionKey, type SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import { insertAuthentication, insertSession } from '#domain/browser-sessions/start-browser-session.ts';
import {
  insertPendingLogin,
  newPendingLogin,
  type PendingLoginParams,
} from '#domain/pending-logins/begin-pending-login.ts';
import {
  type DueFactor,
  type DueFactorParams,
  dueFactorParams,
  type SecondFactorRules,
} from '#domain/pending-logins/due-factor.ts';
import { type BrowserSessionId, newId, type PendingLoginId, toUuid } from '#platform/base/ids.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import { authorizationIsUnconsumed, completedAfter } from './liveness.ts';
import { namedMethods } from './named-methods.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/** The sign-in that is used up. */
export interface UsedAuthorization {
  readonly provider: UpstreamProvider;
  readonly completed: CompletedAuthorization;
  /** From where the request comes that uses it. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** What `consumeAuthorization` expects. */
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
 * An update, to which conditions and `returning` can be added.
 * @param from where it is to happen for a row only; @param session expression of the session that it is used for
 */
export function consumeAuthorization(from: string, session = ':sessionId::uuid'): string {
  return `update upstream_authorizations a set consumed_at = :now::timestamptz, user_session_id = ${session}
      from ${from}
     where a.id = :authorizationId::uuid and a.link_id = :linkId::uuid
       and ${authorizationIsUnconsumed('a', ':completedAfter::timestamptz')}`;
}

/** A CTE that notes when the link was used, which follows the CTE `consumed`. */
export const USED_LINK = `used_link as (
    update upstream_links used set last_used_at = :now::timestamptz from consumed where used.id = :linkId::uuid
  )`;

/** How the person proved who they are, for the authentication of a session and the audit event. */
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

/** What `upstreamSessionCtes` expects, with the above. */
export interface UpstreamSessionParameters
  extends ConsumeParameters,
    EvidenceParameters,
    DueFactorParams,
    PendingLoginParams {
  readonly keyHash: Buffer;
  readonly acr: string;
  readonly amr: readonly string[];
}

/** What a sign-in has besides, for a further factor that is due. */
export interface UpstreamSignIn {
  /** Where the person goes on. */
  readonly action: PostAuthAction | undefined;
  /** Of the account in this browser; undefined: nobody has signed in to it here. */
  readonly nonce: string | undefined;
}

/** Nobody is signed in until this factor is given as well. */
export interface UpstreamFactorDue {
  readonly ok: false;
  readonly reason: 'factor-due';
  readonly pending: PendingLoginId;
  readonly factor: DueFactor;
}

/** A browser session that is opened with a sign-in through a provider. */
export function newUpstreamSession(
  used: UsedAuthorization & UpstreamSignIn,
  { isAskedAfterUpstream }: Pick<SecondFactorRules, 'isAskedAfterUpstream'>,
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
    ...dueFactorParams(isAskedAfterUpstream ? 'optional' : 'off', used.nonce),
    ...pending.params,
    ...consumeParameters(used.completed, id, now),
    ...evidenceParameters(used, now),
    keyHash,
    ...strengthOf([{ kind: 'upstream', amr: namedMethods(used.provider, used.completed.answer) }]),
  };
  return { session: { id, key }, pending: pending.id, parameters };
}

/** The session to name in `consumeAuthorization` where a further factor may be due; follows the CTE `due`. */
export const SESSION_IF_ENOUGH = '(select :sessionId::uuid from due where due.factor is null)';

/**
 * The CTEs `opened` and `authenticated`, which follow the CTEs `due` and `consumed`; where a further factor is due, a
 * pending login is begun in place of the session.
 * @param userId SQL expression of whose session it is, which `consumed` may have
 * @param link SQL expression of what the pending login is to link, see `pending-link.ts`; left out: nothing
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
