import { createdAtSql, type MasStep, stage } from './mas-import.ts';
import { deviceOfScopeSql } from './oauth-sessions.ts';

/** Imports the personal sessions that were not revoked. */
export const personalSessionsStep: MasStep = {
  entity: 'personal sessions',
  tables: ['personal_sessions'],
  run: async (context) => {
    const { target, protocolName } = context;
    const total = await stage(
      context,
      'mas_personal_sessions',
      `id uuid, owner_user_id uuid, owner_client_id uuid, actor_user_id uuid, human_name text, scope text[],
       created_at timestamptz, last_active_at timestamptz, last_active_ip inet`,
      `select personal_session_id, owner_user_id, owner_oauth2_client_id, actor_user_id, human_name, scope_list,
              created_at, last_active_at, last_active_ip
         from personal_sessions where revoked_at is null`,
    );
    await stage(
      context,
      'mas_personal_tokens',
      'id uuid, session_id uuid, token_hash bytea, created_at timestamptz, expires_at timestamptz',
      `select personal_access_token_id, personal_session_id, access_token_sha256, created_at, expires_at
         from personal_access_tokens where revoked_at is null`,
    );
    const done = await target.execute(
      `insert into personal_sessions (id, owner_user_id, owner_client_id, actor_user_id, human_name, scope, device_id,
                                      created_at, expires_at, last_active_at, last_active_ip)
       select m.id, o.id, c.id, u.id, m.human_name, m.scope, ${deviceOfScopeSql('m.scope', protocolName)},
              ${createdAtSql('m.created_at', 'm.id')}, t.expires_at, m.last_active_at, m.last_active_ip
         from mas_personal_sessions m
         join users u on u.id = m.actor_user_id and u.deactivated_at is null
         left join users o on o.id = m.owner_user_id and o.deactivated_at is null
         left join oauth2_clients c on c.id = m.owner_client_id
         left join mas_personal_tokens t on t.session_id = m.id
        where num_nonnulls(o.id, c.id) = 1`,
      [],
    );
    await target.complete('personal_sessions');
    return { done, skipped: { 'no account': total - done } };
  },
};

export const personalTokensStep: MasStep = {
  entity: 'personal access tokens',
  tables: ['personal_access_tokens'],
  run: async ({ target }) => {
    const [staged] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_personal_tokens',
    );
    const done = await target.execute(
      `insert into personal_access_tokens (id, session_id, token_hash, created_at, expires_at)
       select m.id, m.session_id, m.token_hash, ${createdAtSql('m.created_at', 'm.id')}, m.expires_at
         from mas_personal_tokens m join personal_sessions s on s.id = m.session_id`,
      [],
    );
    await target.complete('personal_access_tokens');
    return { done, skipped: { 'no session': (staged?.count ?? 0) - done } };
  },
};
