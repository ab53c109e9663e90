import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamAuthorizationId, UpstreamLinkId } from '#vocabulary/ids.ts';
import { sealResponse, type UpstreamResponse } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface CompleteDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

export interface Completion {
  readonly id: UpstreamAuthorizationId;
  readonly provider: UpstreamProvider;
  /** The user's subject at the provider. */
  readonly subject: string;
  /** Name of the account at the provider; undefined to keep the known name. */
  readonly accountName: string | undefined;
  /** Replaces the groups named before; undefined for none. */
  readonly groups: readonly string[] | undefined;
  readonly answer: UpstreamResponse;
}

const MAX_NAME_CHARACTERS = 255;

/**
 * Records who signed in at the provider. A new subject gets a link without an account.
 * @returns the link of the subject
 */
export async function completeAuthorization(
  { database, clock, keyRing }: CompleteDeps,
  { id, provider, subject, accountName, groups, answer: response }: Completion,
): Promise<UpstreamLinkId> {
  const now = clock.now();
  const { sid, sub } = response.idTokenClaims;
  const row = await database.first(complete, {
    id: toUuid(id),
    linkId: toUuid(newId<'upstream-link'>(now)),
    providerId: toUuid(provider.id),
    subject,
    accountName: accountName ?? null,
    groups: groups ?? null,
    answer: sealResponse(keyRing, id, response),
    sid: nameOrNull(sid),
    sub: nameOrNull(sub),
    now: new Date(now),
  });
  if (row === undefined) throw new Error('the authorization was already completed');
  return fromUuid<'upstream-link'>(row.link_id);
}

function nameOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_NAME_CHARACTERS ? value : null;
}

// The no-op update returns an existing row, including one that a concurrent request has just inserted.
const complete = statement<
  { link_id: string },
  {
    readonly id: string;
    readonly linkId: string;
    readonly providerId: string;
    readonly subject: string;
    readonly accountName: string | null;
    readonly groups: readonly string[] | null;
    readonly answer: Buffer;
    readonly sid: string | null;
    readonly sub: string | null;
    readonly now: Date;
  }
>(
  'complete-upstream-authorization',
  `with link as (
    insert into upstream_links as l (id, provider_id, subject, human_account_name, groups, created_at)
    values (:linkId::uuid, :providerId::uuid, :subject::text, :accountName::text, :groups::text[], :now::timestamptz)
    on conflict (provider_id, subject) do update
      set human_account_name = coalesce(excluded.human_account_name, l.human_account_name), groups = excluded.groups
    returning l.id
  )
  update upstream_authorizations a
     set completed_at = :now::timestamptz, link_id = link.id, answer_sealed = :answer::bytea, sid = :sid::text,
         sub = :sub::text
    from link
   where a.id = :id::uuid and a.completed_at is null
  returning a.link_id`,
);
