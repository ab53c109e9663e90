import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { ACCOUNT_OF_ROW, columnsOf, type ImportStep, localpartOf, timeOf } from './entity.ts';

interface SourceThreepid {
  readonly user_id: string;
  readonly medium: string;
  readonly address: string;
  readonly added_at: number | null;
}

/**
 * Imports confirmed addresses. Those that are not valid email addresses, or that another account has in a different
 * spelling, are stored separately.
 */
export const thirdPartyIdsStep: ImportStep<SourceThreepid> = {
  entity: 'third-party ids',
  tables: ['user_threepids'],
  source: 'select user_id, medium, address, added_at from user_threepids',
  load: async ({ target, suffix, now }, rows) => {
    const read = rows.map(({ user_id: userId, medium, address, added_at: addedAt }) => {
      const createdAt = timeOf(addedAt) ?? new Date(now);
      const email = medium === 'email' ? parseStoredEmailAddress(address) : undefined;
      const id = toUuid(newId(createdAt.getTime()));
      const username = localpartOf(userId, suffix) ?? null;
      return { id, username, medium, address: email?.address ?? address, key: email?.key ?? null, createdAt };
    });
    const emails = await target.execute(
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select b.id, u.id, b.address, b.key, b.created_at
         from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
           as b (id, username, address, key, created_at)
         ${ACCOUNT_OF_ROW}
        where b.key is not null`,
      columnsOf(read, ['id', 'username', 'address', 'key', 'createdAt']),
    );
    const keepApart = async (ids: typeof read) =>
      await target.execute(
        `insert into user_unsupported_threepids (user_id, medium, address, created_at)
         select u.id, b.medium, b.address, b.created_at
           from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
             as b (username, medium, address, created_at)
           ${ACCOUNT_OF_ROW}`,
        columnsOf(ids, ['username', 'medium', 'address', 'createdAt']),
      );
    const others = await keepApart(read.filter(({ medium }) => medium !== 'email'));
    const unusable = await keepApart(read.filter(({ medium, key }) => medium === 'email' && key === null));
    const done = emails + others;
    return { done, skipped: { 'unknown account': rows.length - done - unusable, 'unusable address': unusable } };
  },
  end: async ({ target }) => {
    await target.execute(
      `with surplus as (
        delete from user_emails e
         using (select id, row_number() over (partition by email_key order by created_at, id) as place
                  from user_emails) ranked
         where ranked.id = e.id and ranked.place > 1
        returning e.user_id, e.email, e.created_at
      )
      insert into user_unsupported_threepids (user_id, medium, address, created_at)
      select user_id, 'email', email, min(created_at) from surplus group by user_id, email`,
      [],
    );
    await target.complete('user_emails', 'user_unsupported_threepids');
  },
};
