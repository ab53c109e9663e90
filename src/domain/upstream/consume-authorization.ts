/** What the statements share that use up a sign-in through a provider, each for one browser session. */
import { newSessionKey, type SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import { insertAuthentication, insertSession } from '#domain/browser-sessions/start-browser-session.ts';
import { type BrowserSessionId, newId, toUuid } from '#platform/base/ids.ts';
import { strengthOf } from '#protocol/oidc/authentication-classes.ts';
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

/** An update, to which conditions and `returning` can be added. @param from where it is to happen for a row only */
export function consumeAuthorization(from: string): string {
  return `update upstream_authorizations a set consumed_at = :now::timestamptz, user_session_id = :sessionId::uuid
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
export interface UpstreamSessionParameters extends ConsumeParameters, EvidenceParameters {
  readonly keyHash: Buffer;
  readonly acr: string;
  readonly amr: readonly string[];
}

/** A browser session that is opened with a sign-in through a provider. */
export function newUpstreamSession(
  used: UsedAuthorization,
  now: number,
): { readonly session: SessionCredentials; readonly parameters: UpstreamSessionParameters } {
  const id = newId<'browser-session'>(now);
  const { key, keyHash } = newSessionKey();
  const parameters = {
    ...consumeParameters(used.completed, id, now),
    ...evidenceParameters(used, now),
    keyHash,
    ...strengthOf([{ kind: 'upstream', amr: namedMethods(used.provider, used.completed.answer) }]),
  };
  return { session: { id, key }, parameters };
}

/**
 * The CTEs `opened` and `authenticated`, which follow the CTE `consumed`.
 * @param userId SQL expression of whose session it is, which `consumed` may have
 */
export function upstreamSessionCtes(userId: string): string {
  return `opened as (
    ${insertSession(userId)} from consumed
    returning id, user_id
  ), authenticated as (
    ${insertAuthentication('opened', 'upstream')}
  )`;
}
