import { chatNames } from '#protocol/chat/names.ts';
import {
  createdAtSql,
  familyHashSql,
  isTokenSql,
  type MasImport,
  type MasStep,
  stage,
  timeOfIdSql,
  tokenHashSql,
} from './mas-import.ts';

/** The device in a list of scopes, as SQL; null if there is none. */
export function deviceOfScopeSql(scope: string, protocolName: string): string {
  const { stableScopePrefix: stable, unstableScopePrefix: unstable } = chatNames(protocolName);
  const device = (prefix: string) =>
    `when starts_with(token, '${prefix}device:') then substr(token, ${prefix.length + 'device:'.length + 1})`;
  return `(select case ${device(stable)} ${device(unstable)} end
     from unnest(${scope}) token
    where starts_with(token, '${stable}device:') or starts_with(token, '${unstable}device:') limit 1)`;
}

const SESSION_IS_LIVE = 's.finished_at is null';
/** MAS accepts a consumed token for this long if its successor was not used. */
const PREDECESSOR_AGE = `interval '1 hour'`;

const TOKEN_IS_CURRENT = (token: string) => `${token}.consumed_at is null and ${token}.revoked_at is null`;

/**
 * Imports the live sessions of OAuth clients. Those of deactivated accounts are imported as finished.
 *
 * Refresh tokens are staged first: a session with one token is found by the family of that token. A session with
 * several has no family until the first of them is used, see `readImportedToken`.
 */
export const oauthSessionsStep: MasStep = {
  entity: 'OAuth sessions',
  tables: ['oauth2_sessions'],
  run: async (context) => {
    const { target, now, protocolName } = context;
    await stageRefreshTokens(context);
    const total = await stage(
      context,
      'mas_oauth2_sessions',
      `id uuid, user_id uuid, user_session_id uuid, client_id uuid, scope text[], created_at timestamptz,
       last_active_at timestamptz, last_active_ip inet, user_agent text, human_name text`,
      `select oauth2_session_id, user_id, user_session_id, oauth2_client_id, scope_list, created_at, last_active_at,
              last_active_ip, user_agent, human_name
         from oauth2_sessions s where ${SESSION_IS_LIVE}`,
    );
    // One live session for each device: the most recently active one gets it.
    const done = await target.execute(
      `insert into oauth2_sessions (id, user_id, user_session_id, client_id, scope, device_id, user_agent, human_name,
                                    auth_time, acr, amr, refresh_family, created_at, last_active_at, last_active_ip,
                                    finished_at, finish_reason)
       select m.id, m.user_id, b.id, m.client_id, m.scope,
              case when m.device_id is not null and row_number() over (
                     partition by m.user_id, m.device_id
                     order by coalesce(m.last_active_at, m.created_at) desc, m.id desc) = 1 then m.device_id end,
              m.user_agent, m.human_name, b.authenticated_at, b.acr, coalesce(b.amr, '{}'), f.family,
              ${createdAtSql('m.created_at', 'm.id')}, m.last_active_at, m.last_active_ip,
              case when u.deactivated_at is not null then $1::timestamptz end,
              case when u.deactivated_at is not null then 'deactivated' end
         from (select *, ${deviceOfScopeSql('scope', protocolName)} as device_id from mas_oauth2_sessions) m
         join oauth2_clients c on c.id = m.client_id
         left join users u on u.id = m.user_id
         left join user_sessions b on b.id = m.user_session_id and b.user_id = m.user_id
         left join (select session_id, (array_agg(family))[1] as family from mas_oauth2_refresh_tokens
                     group by session_id having count(*) = 1) f on f.session_id = m.id
        where m.user_id is null or u.id is not null`,
      [now],
    );
    await target.complete('oauth2_sessions');
    return { done, skipped: { 'no account': total - done } };
  },
};

/**
 * Stages the current refresh tokens of live sessions, and the last one before if the client may not have received its
 * successor.
 */
async function stageRefreshTokens(context: MasImport): Promise<void> {
  const columns = (token: string, successor: string) =>
    `select ${token}.oauth2_refresh_token_id, ${token}.oauth2_session_id, ${tokenHashSql(`${token}.refresh_token`)},
            ${familyHashSql(`${token}.refresh_token`)}, ${token}.oauth2_access_token_id, ${successor}, ${token}.created_at`;
  await stage(
    context,
    'mas_oauth2_refresh_tokens',
    `id uuid, session_id uuid, token_hash bytea, family bytea, access_token_id uuid, successor_id uuid,
     created_at timestamptz`,
    `${columns('r', 'null::uuid')}
       from oauth2_refresh_tokens r
       join oauth2_sessions s on s.oauth2_session_id = r.oauth2_session_id and ${SESSION_IS_LIVE}
      where ${TOKEN_IS_CURRENT('r')} and ${isTokenSql('r.refresh_token', 'mar')}
     union all
     ${columns('p', 'r.oauth2_refresh_token_id')}
       from oauth2_refresh_tokens p
       join oauth2_refresh_tokens r on r.oauth2_refresh_token_id = p.next_oauth2_refresh_token_id and ${TOKEN_IS_CURRENT('r')}
       join oauth2_sessions s on s.oauth2_session_id = r.oauth2_session_id and ${SESSION_IS_LIVE}
      where p.oauth2_session_id = r.oauth2_session_id and p.consumed_at > now() - ${PREDECESSOR_AGE}
        and p.revoked_at is null and ${isTokenSql('p.refresh_token', 'mar')}
        and not exists (select from oauth2_access_tokens a
                         where a.oauth2_access_token_id = r.oauth2_access_token_id and a.first_used_at is not null)`,
  );
}

/** Condition: the access token can still be used. */
const ACCESS_TOKEN_IS_LIVE = 't.revoked_at is null and (t.expires_at is null or t.expires_at > now())';

export const oauthAccessTokensStep: MasStep = {
  entity: 'OAuth access tokens',
  tables: ['oauth2_access_tokens'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_oauth2_access_tokens',
      `id uuid, session_id uuid, token_hash bytea, is_token boolean, created_at timestamptz, expires_at timestamptz,
       first_used_at timestamptz`,
      `select t.oauth2_access_token_id, t.oauth2_session_id, ${tokenHashSql('t.access_token')},
              ${isTokenSql('t.access_token', 'mat')}, t.created_at, t.expires_at, t.first_used_at
         from oauth2_access_tokens t
         join oauth2_sessions s on s.oauth2_session_id = t.oauth2_session_id and ${SESSION_IS_LIVE}
        where ${ACCESS_TOKEN_IS_LIVE}`,
    );
    const [unknown] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_oauth2_access_tokens where not is_token',
    );
    // MAS issues tokens without an expiry to administration tools.
    const done = await target.execute(
      `insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at, first_used_at)
       select m.id, m.session_id, m.token_hash, s.scope, coalesce(m.created_at, ${timeOfIdSql('m.id')}),
              coalesce(m.expires_at, 'infinity'), m.first_used_at
         from mas_oauth2_access_tokens m
         join oauth2_sessions s on s.id = m.session_id
        where m.is_token and s.finished_at is null`,
      [],
    );
    await target.complete('oauth2_access_tokens');
    const odd = unknown?.count ?? 0;
    return { done, skipped: { 'unknown form': odd, 'no session': total - odd - done } };
  },
};

export const oauthRefreshTokensStep: MasStep = {
  entity: 'OAuth refresh tokens',
  tables: [],
  run: async ({ target }) => {
    const [staged] = await target.query<{ count: number }>(
      'select count(*)::integer as count from mas_oauth2_refresh_tokens',
    );
    const done = await target.execute(
      `insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, successor_id, created_at)
       select m.id, m.session_id, m.token_hash, a.id, m.successor_id, ${createdAtSql('m.created_at', 'm.id')}
         from mas_oauth2_refresh_tokens m
         join oauth2_sessions s on s.id = m.session_id and s.finished_at is null
         left join oauth2_access_tokens a on a.id = m.access_token_id`,
      [],
    );
    await target.complete('oauth2_refresh_tokens');
    return { done, skipped: { 'no session': (staged?.count ?? 0) - done } };
  },
};
