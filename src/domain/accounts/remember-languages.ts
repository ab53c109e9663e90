import { toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/**
 * Rows are locked in the order of their ids, so that batches of several instances never wait for one another in a
 * circle. The language is a claim of the profile, whose `updated_at` changes with it.
 */
const storeLanguages = statement<
  never,
  { readonly ids: readonly string[]; readonly languages: readonly string[]; readonly now: Date }
>(
  'store-languages',
  `with used as (
    select id, language from unnest(:ids::uuid[], :languages::text[]) as used (id, language)
  ), locked as (
    select id from users where id = any(:ids::uuid[]) order by id for no key update
  )
  update users u set locale = used.language, updated_at = :now::timestamptz
  from locked join used on used.id = locked.id
  where u.id = locked.id and u.locale is distinct from used.language`,
);

/**
 * Stores in which language people have last used pages, in which they get the mails that no request of theirs causes
 * (browser-flows 11).
 * @param languages BCP 47 tags of installed languages, each person once
 * @param now milliseconds since the epoch
 */
export async function rememberLanguages(
  queryable: Queryable,
  languages: readonly (readonly [UserId, string])[],
  now: number,
): Promise<void> {
  await queryable.execute(storeLanguages, {
    ids: languages.map(([user]) => toUuid(user)),
    languages: languages.map(([, language]) => language),
    now: new Date(now),
  });
}
