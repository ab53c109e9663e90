/**
 * Leases, table `leases`: a piece of work that one process does at a time. A row and not a lock of a session, so that
 * it works behind transaction poolers and holds no connection; a holder that dies loses it when it runs out.
 */
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';

const take = statement<{ holder: string }, [name: string, holder: string, expiresAt: Date, now: Date]>(
  'take-lease',
  `insert into leases as lease (name, holder, expires_at) values ($1::text, $2::uuid, $3::timestamptz)
  on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where lease.holder = excluded.holder or lease.expires_at <= $4::timestamptz
  returning holder`,
);

const release = statement<never, [name: string, holder: string]>(
  'release-lease',
  'delete from leases where name = $1::text and holder = $2::uuid',
);

/** Takes or prolongs a lease. @returns false while another holder has it */
export async function takeLease(
  database: Queryable,
  lease: { readonly name: string; readonly holder: string; readonly seconds: number; readonly now: number },
): Promise<boolean> {
  const expiresAt = new Date(lease.now + lease.seconds * 1000);
  return (await database.first(take, [lease.name, lease.holder, expiresAt, new Date(lease.now)])) !== undefined;
}

export async function releaseLease(database: Queryable, name: string, holder: string): Promise<void> {
  await database.execute(release, [name, holder]);
}
