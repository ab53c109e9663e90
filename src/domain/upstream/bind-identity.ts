import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamLinkId, UpstreamProviderId, UserId } from '#vocabulary/ids.ts';

/** A user's identity at a provider. */
export interface Identity {
  readonly providerId: UpstreamProviderId;
  readonly subject: string;
  /** Name of the account at the provider; omitted to keep the known name. */
  readonly accountName?: string | undefined;
}

/** Locks the provider for the transaction, so that it is not removed. */
const findProvider = statement<{ id: string }, { readonly providerId: string }>(
  'find-provider-of-identity',
  `select p.id from upstream_providers p where p.id = :providerId::uuid and ${providerIsEnabled('p')} for key share`,
);

const bind = statement<
  { id: string },
  {
    readonly id: string;
    readonly providerId: string;
    readonly subject: string;
    readonly userId: string;
    readonly accountName: string | null;
    readonly now: Date;
  }
>(
  'bind-identity',
  `insert into upstream_links as l (id, provider_id, subject, user_id, human_account_name, created_at)
   values (:id::uuid, :providerId::uuid, :subject::text, :userId::uuid, :accountName::text, :now::timestamptz)
   on conflict (provider_id, subject) do update
      set user_id = excluded.user_id,
          human_account_name = coalesce(excluded.human_account_name, l.human_account_name)
    where l.user_id is null
   returning l.id`,
);

/** `taken`: the identity belongs to an account. `isNew`: the identity was not known before. */
export type BindOutcome =
  | { readonly ok: true; readonly id: UpstreamLinkId; readonly isNew: boolean }
  | { readonly ok: false; readonly reason: 'unknown-provider' | 'taken' };

/**
 * Links an account to an identity at a provider without proof from the provider. A known identity without an account is
 * linked as well. Expects the caller's transaction.
 */
export async function bindIdentity(
  transaction: Queryable,
  user: UserId,
  identity: Identity,
  now: number,
): Promise<BindOutcome> {
  const providerId = toUuid(identity.providerId);
  const provider = await transaction.first(findProvider, { providerId });
  if (provider === undefined) return { ok: false, reason: 'unknown-provider' };
  const id = toUuid(newId<'upstream-link'>(now));
  const row = await transaction.first(bind, {
    id,
    providerId,
    subject: identity.subject,
    userId: toUuid(user),
    accountName: identity.accountName ?? null,
    now: new Date(now),
  });
  if (row === undefined) return { ok: false, reason: 'taken' };
  return { ok: true, id: fromUuid<'upstream-link'>(row.id), isNew: row.id === id };
}
