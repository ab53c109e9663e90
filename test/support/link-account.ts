import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { sql } from './fixtures.ts';

/** Inserts an upstream link, as if the user had linked their account earlier. */
export async function linkAccount(
  database: Queryable,
  { providerId, userId, subject }: { readonly providerId: string; readonly userId: string; readonly subject: string },
): Promise<void> {
  const uuids = [newId(Date.now()), providerId, userId].map((id) => {
    const parsed = parseId(id);
    if (parsed === undefined) throw new Error(`no id: ${id}`);
    return toUuid(parsed);
  });
  await sql(
    database,
    `insert into upstream_links (id, provider_id, user_id, subject, created_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::text, now())`,
    [...uuids, subject],
  );
}
