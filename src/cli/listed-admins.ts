import { listUsernamesLike } from '#domain/accounts/find-user.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/**
 * Warns of names in `policy.data.admin_users` that give nobody any rights, because there is no such account
 * (security S-177).
 * @param registerCommand makes an account, as the operator would call it
 */
export async function warnOfMissingAdmins(
  queryable: Queryable,
  listed: readonly string[],
  log: Log,
  registerCommand: string,
): Promise<void> {
  if (listed.length === 0) return;
  const existing = await listUsernamesLike(queryable, listed);
  const missing = listed.filter((name) => !existing.includes(name));
  const respelled = missing.flatMap((name) => existing.find((one) => one.toLowerCase() === name.toLowerCase()) ?? []);
  if (missing.length === 0) return;
  log.warn(
    'startup',
    `policy.data.admin_users lists accounts that do not exist; make one with: ${registerCommand} NAME`,
    {
      missing: missing.join(' '),
      ...(respelled.length > 0 && { spelled_in_another_case: respelled.join(' ') }),
    },
  );
}
