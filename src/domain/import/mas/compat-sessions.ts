import {
  createdAtSql,
  familyHashSql,
  isTokenSql,
  type MasImport,
  type MasStep,
  stage,
  tokenHashSql,
} from './mas-import.ts';

const SESSION_IS_LIVE = 's.finished_at is null';

/** Forms of Synapse, as `parseChatClientToken` accepts them. */
const SYNAPSE_TOKEN = '_[0-9A-Za-z+/]*_[0-9A-Za-z]{1,64}_[0-9A-Za-z]{6}$';
const MACAROON = '^[0-9A-Za-z_-]{18,}={0,2}$';

/** Condition: the access token has a form that is looked up here. */
export function isCompatAccessTokenSql(token: string): string {
  return `(${isTokenSql(token, 'mct')} or ${token} ~ '^syt${SYNAPSE_TOKEN}' or case when ${token} ~ '${MACAROON}'
    then substr(decode(translate(rpad(substr(rtrim(${token}, '='), 1, 20), 20, 'A'), '-_', '+/'), 'base64'), 5, 9) = 'location ' else false end)`;
}

/** Condition: the refresh token has a form that is looked up here. */
export function isCompatRefreshTokenSql(token: string): string {
  return `(${isTokenSql(token, 'mcr')} or ${token} ~ '^syr${SYNAPSE_TOKEN}')`;
}

/**
 * Imports the live sessions of chat clients. MAS allows several for one device: the newest becomes the session, which
 * takes over the tokens of the others. Sessions of deactivated accounts are imported as finished.
 */
export const compatSessionsStep: MasStep = {
  entity: 'compat sessions',
  tables: ['compat_sessions'],
  run: async (context) => {
    const { target, now } = context;
    const total = await stage(
      context,
      'mas_compat_sessions',
      `id uuid, user_id uuid, device_id text, user_session_id uuid, is_admin boolean, human_name text, user_agent text,
       created_at timestamptz, last_active_at timestamptz, last_active_ip inet, kept_id uuid`,
      `select compat_session_id, user_id, device_id, user_session_id, is_synapse_admin, human_name, user_agent,
              created_at, last_active_at, last_active_ip,
              case when device_id is null then compat_session_id
                   else first_value(compat_session_id) over (partition by user_id, device_id
                     order by created_at desc, compat_session_id desc) end
         from compat_sessions s where ${SESSION_IS_LIVE}`,
    );
    await stageRefreshTokens(context);
    const done = await target.execute(
      `insert into compat_sessions (id, user_id, device_id, user_session_id, is_homeserver_admin, human_name, user_agent,
                                    refresh_family, created_at, last_active_at, last_active_ip, finished_at, finish_reason)
       select m.id, m.user_id, m.device_id, b.id, m.is_admin, m.human_name, m.user_agent, f.family,
              ${createdAtSql('m.created_at', 'm.id')}, m.last_active_at, m.last_active_ip,
              case when u.deactivated_at is not null then $1::timestamptz end,
              case when u.deactivated_at is not null then 'deactivated' end
         from mas_compat_sessions m
         join users u on u.id = m.user_id
         left join user_sessions b on b.id = m.user_session_id and b.user_id = m.user_id
         left join (select k.kept_id, (array_agg(t.family))[1] as family
                      from mas_compat_refresh_tokens t join mas_compat_sessions k on k.id = t.session_id
                     group by k.kept_id having count(*) = 1) f on f.kept_id = m.id
        where m.id = m.kept_id`,
      [now],
    );
    await target.complete('compat_sessions');
    const [merged] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_compat_sessions where id <> kept_id',
    );
    const duplicate = merged?.count ?? 0;
    return { done, skipped: { duplicate, 'no account': total - done - duplicate } };
  },
};

async function stageRefreshTokens(context: MasImport): Promise<void> {
  await stage(
    context,
    'mas_compat_refresh_tokens',
    'id uuid, session_id uuid, token_hash bytea, family bytea, access_token_id uuid, created_at timestamptz',
    `select t.compat_refresh_token_id, t.compat_session_id, ${tokenHashSql('t.refresh_token')},
            case when ${isTokenSql('t.refresh_token', 'mcr')} then ${familyHashSql('t.refresh_token')} end,
            t.compat_access_token_id, t.created_at
       from compat_refresh_tokens t
       join compat_sessions s on s.compat_session_id = t.compat_session_id and ${SESSION_IS_LIVE}
      where t.consumed_at is null and ${isCompatRefreshTokenSql('t.refresh_token')}`,
  );
}

export const compatAccessTokensStep: MasStep = {
  entity: 'compat access tokens',
  tables: ['compat_access_tokens'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_compat_access_tokens',
      'id uuid, session_id uuid, token_hash bytea, is_token boolean, created_at timestamptz, expires_at timestamptz',
      `select t.compat_access_token_id, t.compat_session_id, ${tokenHashSql('t.access_token')},
              ${isCompatAccessTokenSql('t.access_token')}, t.created_at, t.expires_at
         from compat_access_tokens t
         join compat_sessions s on s.compat_session_id = t.compat_session_id and ${SESSION_IS_LIVE}
        where t.expires_at is null or t.expires_at > now()`,
    );
    const [unknown] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_compat_access_tokens where not is_token',
    );
    const done = await target.execute(
      `insert into compat_access_tokens (id, session_id, token_hash, created_at, expires_at)
       select m.id, s.id, m.token_hash, ${createdAtSql('m.created_at', 'm.id')}, m.expires_at
         from mas_compat_access_tokens m
         join mas_compat_sessions k on k.id = m.session_id
         join compat_sessions s on s.id = k.kept_id and s.finished_at is null
        where m.is_token`,
      [],
    );
    await target.complete('compat_access_tokens');
    const odd = unknown?.count ?? 0;
    return { done, skipped: { 'unknown form': odd, 'no session': total - odd - done } };
  },
};

export const compatRefreshTokensStep: MasStep = {
  entity: 'compat refresh tokens',
  tables: [],
  run: async ({ target }) => {
    const [staged] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_compat_refresh_tokens',
    );
    const done = await target.execute(
      `insert into compat_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
       select m.id, s.id, m.token_hash, a.id, ${createdAtSql('m.created_at', 'm.id')}
         from mas_compat_refresh_tokens m
         join mas_compat_sessions k on k.id = m.session_id
         join compat_sessions s on s.id = k.kept_id and s.finished_at is null
         left join compat_access_tokens a on a.id = m.access_token_id`,
      [],
    );
    await target.complete('compat_refresh_tokens');
    return { done, skipped: { 'no session': (staged?.count ?? 0) - done } };
  },
};
