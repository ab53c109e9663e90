import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ExtraClaims } from '#protocol/oidc/extra-claims.ts';
import type { UserId } from '#vocabulary/ids.ts';

export interface ClaimsChange {
  readonly user: UserId;
  /** Valid according to `extraClaimsProblem`; replaces the former claims. */
  readonly claims: ExtraClaims;
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Sets a user's extra claims, which the service passes on unchanged. Expects the caller's transaction.
 * @returns whether this call changed them
 */
export async function setClaims(transaction: Queryable, { user, claims, by, now }: ClaimsChange): Promise<boolean> {
  const wanted = Object.keys(claims).length === 0 ? null : JSON.stringify(claims);
  const change = { userId: toUuid(user), claims: wanted, now: new Date(now) };
  if ((await transaction.execute(storeClaims, change)) === 0) return false;
  await recordAuditEvent(transaction, { kind: 'claims_changed', at: now, userId: user, ...by });
  return true;
}

const storeClaims = statement<never, { readonly userId: string; readonly claims: string | null; readonly now: Date }>(
  'store-claims',
  `update users set claims = :claims::jsonb, updated_at = :now::timestamptz
    where id = :userId::uuid and claims is distinct from :claims::jsonb`,
);
