import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { grantIsPending } from '#domain/records/liveness/authorizations.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { ONE_FACTOR_ACR, reachesAcr } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

/**
 * Returns whether the user's next step asks for more than one factor, regardless of the operator's settings: a pending
 * authorization request, or the admin area.
 */
export async function wantsFurtherFactor(
  deps: {
    readonly database: Queryable;
    readonly clock: Clock;
    readonly secondFactors: Pick<SecondFactorRules, 'policy'>;
  },
  action: PostAuthAction | undefined,
): Promise<boolean> {
  if (deps.secondFactors.policy === 'off') return false;
  if (action?.kind === 'administer') return true;
  if (action?.kind !== 'continue_authorization_grant') return false;
  const row = await deps.database.first(findWanted, { id: toUuid(action.id), now: new Date(deps.clock.now()) });
  const [preferred] = row?.acr_values ?? [];
  return preferred !== undefined && !reachesAcr(ONE_FACTOR_ACR, preferred);
}

/** Uses the primary key. */
const findWanted = statement<
  { readonly acr_values: readonly string[] | null },
  { readonly id: string; readonly now: Date }
>(
  'wanted-authentication-classes',
  `select g.acr_values from oauth2_authorization_grants g
    where g.id = :id::uuid and ${grantIsPending('g', ':now::timestamptz')}`,
);
