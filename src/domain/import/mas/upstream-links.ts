import { createdAtSql, type MasStep, stage } from './mas-import.ts';

/** Providers that accounts are linked to although the configuration lacks them are imported as disabled. */
export const upstreamProvidersStep: MasStep = {
  entity: 'upstream providers',
  tables: ['upstream_oauth_providers'],
  run: async (context) => {
    const { target, now } = context;
    const total = await stage(
      context,
      'mas_upstream_providers',
      'id uuid, issuer text, human_name text, client_id text, ui_order integer, created_at timestamptz',
      `select upstream_oauth_provider_id, issuer, human_name, client_id, ui_order, created_at
         from upstream_oauth_providers p
        where exists (select from upstream_oauth_links l
                       where l.upstream_oauth_provider_id = p.upstream_oauth_provider_id and l.user_id is not null)`,
    );
    const done = await target.execute(
      `insert into upstream_providers (id, issuer, human_name, client_id, ui_order, created_at, disabled_at)
       select m.id, m.issuer, m.human_name, m.client_id, m.ui_order, ${createdAtSql('m.created_at', 'm.id')}, $1::timestamptz
         from mas_upstream_providers m
       on conflict (id) do nothing`,
      [now],
    );
    return { done, skipped: { duplicate: total - done } };
  },
};

/** Imports identities at upstream providers that belong to an account. */
export const upstreamLinksStep: MasStep = {
  entity: 'upstream links',
  tables: ['upstream_oauth_links'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_upstream_links',
      'id uuid, provider_id uuid, user_id uuid, subject text, created_at timestamptz, human_account_name text',
      `select upstream_oauth_link_id, upstream_oauth_provider_id, user_id, subject, created_at, human_account_name
         from upstream_oauth_links`,
    );
    // Identities that were seen here before the import belong to unfinished registrations.
    await target.query('delete from upstream_links where user_id is null');
    const done = await target.execute(
      `insert into upstream_links (id, provider_id, subject, user_id, human_account_name, created_at)
       select m.id, m.provider_id, m.subject, m.user_id, m.human_account_name, ${createdAtSql('m.created_at', 'm.id')}
         from mas_upstream_links m
         join users u on u.id = m.user_id
         join upstream_providers p on p.id = m.provider_id`,
      [],
    );
    await target.complete('upstream_links');
    return { done, skipped: { 'no account': total - done } };
  },
};
