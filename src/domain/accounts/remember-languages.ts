import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/**
 * Locks rows in the order of their IDs, so that batches of several instances cannot deadlock. The language is a profile
 * claim, so `updated_at` changes with it.
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
  where u.id = locked.id and u.locale is distinct from used.language and not u.locale_is_chosen`,
);

/**
 * Stores the language in which users last viewed pages, unless they chose one in their profile. Mails that are not triggered by the user's request use it
 * (browser-flows 11).
 * @param languages BCP 47 tags of installed languages, one entry per user
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
