import { listLiveProcesses } from '#platform/jobs/registered-processes.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/**
 * The processes that live and do not have a root key.
 * @param check of `rootKeyChecks`
 * @param use `opening`: as any of their keys; `sealing`: as the one that they seal with
 */
export async function processesThatLack(
  database: Queryable,
  check: Buffer | undefined,
  use: 'opening' | 'sealing',
  now: number,
): Promise<readonly string[]> {
  const processes = await listLiveProcesses(database, now);
  return processes.flatMap(({ name, root_keys: keys }) => {
    const known = keys ?? [];
    const has = (one: Buffer | undefined) => one !== undefined && check !== undefined && one.equals(check);
    return (use === 'sealing' ? has(known[0]) : known.some(has)) ? [] : name;
  });
}
