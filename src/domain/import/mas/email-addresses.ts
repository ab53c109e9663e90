import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { createdAtSql, type MasStep, stage } from './mas-import.ts';

interface SourceEmail {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly created_at: Date;
}

/**
 * Imports email addresses. MAS allows several accounts with the same address: usable accounts come first, then the
 * oldest row. The other rows, and invalid addresses, are kept as unsupported third-party IDs.
 */
export const emailAddressesStep: MasStep = {
  entity: 'email addresses',
  tables: ['user_emails'],
  run: async ({ source, target }) => {
    await target.query(
      `create temporary table mas_emails (id uuid, user_id uuid, email text, email_key text, created_at timestamptz)
       on commit drop`,
    );
    let total = 0;
    let unusable = 0;
    for await (const rows of source.batches<SourceEmail>(
      `select user_email_id as id, user_id, email, ${createdAtSql('created_at', 'user_email_id')} as created_at from user_emails`,
    )) {
      const read = rows.map((row) => ({ ...row, parsed: parseStoredEmailAddress(row.email) }));
      total += read.length;
      unusable += read.filter(({ parsed }) => parsed === undefined).length;
      await target.execute(
        `insert into mas_emails select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])`,
        [
          read.map(({ id }) => id),
          read.map(({ user_id }) => user_id),
          read.map(({ email, parsed }) => parsed?.address ?? email),
          read.map(({ parsed }) => parsed?.key ?? null),
          read.map(({ created_at }) => created_at),
        ],
      );
    }
    await target.query('analyze mas_emails');
    const kept = await target.execute(
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select id, user_id, email, email_key, created_at
         from (select m.*, row_number() over (partition by m.email_key order by u.locked_at is not null, m.created_at, m.id) as place
                 from mas_emails m join users u on u.id = m.user_id
                where m.email_key is not null and u.deactivated_at is null) ranked
        where ranked.place = 1`,
      [],
    );
    await target.execute(
      `insert into user_unsupported_threepids (user_id, medium, address, created_at)
       select m.user_id, 'email', m.email, min(m.created_at)
         from mas_emails m join users u on u.id = m.user_id
        where u.deactivated_at is null
          and not exists (select from user_emails e where e.user_id = m.user_id and e.email_key = m.email_key)
        group by m.user_id, m.email`,
      [],
    );
    const [orphans] = await target.query<{ count: number }>(
      `select count(*)::integer as count from mas_emails m
        where not exists (select from users u where u.id = m.user_id and u.deactivated_at is null)`,
    );
    await target.complete('user_emails');
    const gone = orphans?.count ?? 0;
    return {
      done: kept,
      skipped: {
        'unusable address': unusable,
        'no account': gone,
        duplicate: Math.max(total - kept - unusable - gone, 0),
      },
    };
  },
};

export const thirdPartyIdsStep: MasStep = {
  entity: 'third-party ids',
  tables: ['user_unsupported_third_party_ids'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_third_party_ids',
      'user_id uuid, medium text, address text, created_at timestamptz',
      'select user_id, medium, address, created_at from user_unsupported_third_party_ids',
    );
    const done = await target.execute(
      `insert into user_unsupported_threepids (user_id, medium, address, created_at)
       select m.user_id, m.medium, m.address, m.created_at
         from mas_third_party_ids m join users u on u.id = m.user_id
        where u.deactivated_at is null
          and not exists (select from user_unsupported_threepids t
                           where t.user_id = m.user_id and t.medium = m.medium and t.address = m.address)`,
      [],
    );
    await target.complete('user_unsupported_threepids');
    return { done, skipped: { 'no account': total - done } };
  },
};

/** The terms of service that users accepted. */
export const termsStep: MasStep = {
  entity: 'terms',
  tables: ['user_terms'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_terms',
      'user_id uuid, terms_url text, created_at timestamptz',
      'select user_id, terms_url, created_at from user_terms',
    );
    const done = await target.execute(
      `insert into user_terms (user_id, terms_uri, accepted_at)
       select m.user_id, m.terms_url, min(m.created_at) from mas_terms m join users u on u.id = m.user_id
        group by m.user_id, m.terms_url`,
      [],
    );
    await target.complete('user_terms');
    return { done, skipped: { 'no account': total - done } };
  },
};
