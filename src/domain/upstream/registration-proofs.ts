import type { UpstreamProof, UpstreamProofs } from '#domain/accounts/registrations/finish-registration.ts';
import { authorizationIsUnused } from '#domain/records/liveness/upstream-authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamAuthorizationId } from '#vocabulary/ids.ts';
import { namedMethods } from './named-methods.ts';
import { openResponse } from './sealed-columns.ts';
import type { UpstreamProviders } from './upstream-providers.ts';

/**
 * Upstream sign-ins that started registrations. The time since the user came back from the provider does not matter
 * here, because the registration has its own time limit.
 */
export class RegistrationProofs implements UpstreamProofs {
  readonly #keyRing: KeyRing;
  readonly #providers: UpstreamProviders;

  constructor({ keyRing, providers }: { readonly keyRing: KeyRing; readonly providers: UpstreamProviders }) {
    this.#keyRing = keyRing;
    this.#providers = providers;
  }

  async lock(transaction: Transaction, id: UpstreamAuthorizationId): Promise<UpstreamProof | undefined> {
    const row = await transaction.first(lockProof, { id: toUuid(id) });
    if (row === undefined) return undefined;
    const provider = this.#providers.enabled.find((one) => toUuid(one.id) === row.provider_id);
    const response = openResponse(this.#keyRing, id, row.answer_sealed);
    return {
      amr: provider === undefined ? [] : namedMethods(provider, response),
      attach: async ({ userId, sessionId, now }) => {
        await transaction.execute(attachProof, {
          id: toUuid(id),
          userId: toUuid(userId),
          sessionId: toUuid(sessionId),
          now: new Date(now),
        });
      },
    };
  }
}

/** Other requests for this sign-in or identity wait here, and what they have committed counts. */
const lockProof = statement<{ provider_id: string; answer_sealed: Buffer }, { readonly id: string }>(
  'lock-upstream-proof',
  `select a.provider_id, a.answer_sealed
     from upstream_authorizations a join upstream_links l on l.id = a.link_id
    where a.id = :id::uuid and ${authorizationIsUnused('a')} and a.answer_sealed is not null and l.user_id is null
      for update of a, l`,
);

const attachProof = statement<
  never,
  { readonly id: string; readonly userId: string; readonly sessionId: string; readonly now: Date }
>(
  'attach-upstream-proof',
  `with consumed as (
    update upstream_authorizations a set consumed_at = :now::timestamptz, user_session_id = :sessionId::uuid
     where a.id = :id::uuid
    returning a.link_id
  )
  update upstream_links l set user_id = :userId::uuid, last_used_at = :now::timestamptz from consumed where l.id = consumed.link_id`,
);
