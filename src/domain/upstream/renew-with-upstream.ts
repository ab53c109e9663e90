import {
  type FactorDue,
  newRenewal,
  RENEWAL_COLUMNS,
  type ReauthStep,
  type RenewalParams,
  type RenewalRow,
  renewalCtes,
} from '#domain/browser-sessions/renew-session.ts';
import type { SessionCookie, SessionCredentials } from '#domain/records/browser-session.ts';
import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import type { Clock } from '#platform/base/clock.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  type ConsumeParameters,
  consumeAuthorization,
  consumeParameters,
  USED_LINK,
  type UsedAuthorization,
} from './consume-authorization.ts';
import { namedMethods } from './named-methods.ts';

export interface Renewal extends UsedAuthorization {
  /** Cookie of a session of the link's user. */
  readonly cookie: SessionCookie;
  readonly step: ReauthStep;
}

export type RenewalOutcome =
  /** `session`: new contents of the cookie; undefined to keep the cookie. */
  | { readonly ok: true; readonly session: SessionCredentials | undefined }
  /** Another request was first, it took too long, or the session has ended. */
  | { readonly ok: false; readonly reason: 'used' }
  | FactorDue;

/**
 * Completes a sign-in through a provider in an existing session of the same user. If the provider was asked to
 * reauthenticate the user, the session is reauthenticated, after a further factor if one is due. Otherwise the provider
 * may only have remembered the user.
 */
export async function renewWithUpstream(
  {
    database,
    clock,
    secondFactors,
  }: {
    readonly database: Queryable;
    readonly clock: Clock;
    readonly secondFactors: Pick<SecondFactorRules, 'isRequiredOnReauth'>;
  },
  renewal: Renewal,
): Promise<RenewalOutcome> {
  const { provider, completed, cookie } = renewal;
  const now = clock.now();
  const taken = consumeParameters(completed, cookie.id, now);
  if (!completed.isReauthentication) {
    const count = await database.execute(consumeInSession, taken);
    return count === 1 ? { ok: true, session: undefined } : { ok: false, reason: 'used' };
  }
  const factors = [{ kind: 'upstream', amr: namedMethods(provider, completed.answer) } as const];
  const { params, due, rotated } = newRenewal(secondFactors, { ...renewal, factors, now });
  const row = await database.first(renewByLink, { ...params, ...taken });
  const factorDue = due(row);
  if (factorDue !== undefined) return factorDue;
  const isRenewed = row?.is_renewed === true;
  metrics?.count('latchkey_reauths_total', { method: 'upstream', result: isRenewed ? 'success' : 'error' });
  return isRenewed ? { ok: true, session: rotated(row) } : { ok: false, reason: 'used' };
}

const consumeInSession = statement<never, ConsumeParameters>(
  'consume-upstream-authorization',
  `with linked as (
    select l.id from upstream_links l join user_sessions s on s.user_id = l.user_id
     where l.id = :linkId::uuid and s.id = :sessionId::uuid
       for no key update of l
  ), consumed as (
    ${consumeAuthorization('linked')}
    returning a.link_id
  )
  update upstream_links used set last_used_at = :now::timestamptz from consumed where used.id = consumed.link_id`,
);

// As with a password, a concurrent lock of the account either commits first or waits.
const renewByLink = statement<RenewalRow, ConsumeParameters & RenewalParams>(
  'renew-authentication-by-link',
  `with account as (
    select u.id as user_id from upstream_links l join users u on u.id = l.user_id
     where l.id = :linkId::uuid and ${accountIsUsable('u')}
       for share of u for no key update of l
  ), consumed as (
    ${consumeAuthorization('account')}
    returning account.user_id
  ), ${USED_LINK},
  ${renewalCtes('consumed', { firstFactor: 'upstream', authorizationId: ':authorizationId::uuid', amr: ':amr::text[]' })}
  select ${RENEWAL_COLUMNS}`,
);
