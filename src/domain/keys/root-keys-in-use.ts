import { listLiveProcesses } from '#platform/jobs/registered-processes.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/**
 * Returns the live processes that do not have a root key.
 * @param check from `rootKeyChecks`
 * @param use `opening`: as any of their keys; `sealing`: as the key that they encrypt with
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
