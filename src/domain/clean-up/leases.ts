/**
 * Leases, table `leases`: work that one process does at a time. A row and not a lock of a session, so that it works
 * behind transaction poolers and holds no connection; a holder that dies loses it when it runs out.
 */
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const take = statement<
  { holder: string },
  { readonly name: string; readonly holder: string; readonly expiresAt: Date; readonly now: Date }
>(
  'take-lease',
  `insert into leases as lease (name, holder, expires_at) values (:name::text, :holder::uuid, :expiresAt::timestamptz)
  on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where lease.holder = excluded.holder or lease.expires_at <= :now::timestamptz
  returning holder`,
);

const release = statement<never, { readonly name: string; readonly holder: string }>(
  'release-lease',
  'delete from leases where name = :name::text and holder = :holder::uuid',
);

/** Takes or prolongs a lease. @returns false while another holder has it */
export async function takeLease(
  database: Queryable,
  lease: { readonly name: string; readonly holder: string; readonly seconds: number; readonly now: number },
): Promise<boolean> {
  const expiresAt = new Date(lease.now + lease.seconds * 1000);
  return (
    (await database.first(take, { name: lease.name, holder: lease.holder, expiresAt, now: new Date(lease.now) })) !==
    undefined
  );
}

export async function releaseLease(database: Queryable, name: string, holder: string): Promise<void> {
  await database.execute(release, { name, holder });
}
