import { newId, toUuid } from '#platform/base/ids.ts';
import { ACCOUNT_OF_ROW, columnsOf, type ImportStep, localpartOf } from './entity.ts';

interface SourceExternalId {
  readonly auth_provider: string;
  readonly external_id: string;
  readonly user_id: string;
}

/** Imports identities at upstream providers. Identities of providers that are not configured here are skipped. */
export const upstreamLinksStep: ImportStep<SourceExternalId> = {
  entity: 'upstream links',
  tables: ['user_external_ids'],
  source: 'select auth_provider, external_id, user_id from user_external_ids',
  load: async ({ target, suffix, providers, now }, rows) => {
    const links = rows.flatMap(({ auth_provider: name, external_id: subject, user_id: userId }) => {
      const providerId = providers.get(name);
      if (providerId === undefined) return [];
      return [{ id: toUuid(newId(now)), providerId, subject, username: localpartOf(userId, suffix) ?? null }];
    });
    const done = await target.execute(
      `insert into upstream_links (id, provider_id, subject, user_id, created_at)
       select b.id, b.provider_id, b.subject, u.id, $5::timestamptz
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as b (id, provider_id, subject, username)
         ${ACCOUNT_OF_ROW}`,
      [...columnsOf(links, ['id', 'providerId', 'subject', 'username']), new Date(now)],
    );
    return {
      done,
      skipped: { 'unknown provider': rows.length - links.length, 'unknown account': links.length - done },
    };
  },
  end: async ({ target }) => {
    // Removes links of unfinished registrations whose identity now belongs to an imported account.
    await target.execute(
      `delete from upstream_links l
        where l.user_id is null and exists (
          select from upstream_links other
           where other.provider_id = l.provider_id and other.subject = l.subject and other.user_id is not null)`,
      [],
    );
    await target.complete('upstream_links');
  },
};
