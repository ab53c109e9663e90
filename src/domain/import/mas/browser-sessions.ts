import { IMPORTED_SESSION_SECONDS } from '#domain/browser-sessions/imported-session.ts';
import { sealAuthorizationSecrets } from '#domain/upstream/sealed-columns.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { ONE_FACTOR_ACR } from '#protocol/oidc/authentication-classes.ts';
import { createdAtSql, type MasStep, stage } from './mas-import.ts';

/**
 * Imports the live browser sessions. Nobody knows the key of an imported session: browsers still send the cookie of
 * MAS, and the first request with it gives the session a key, see `imported-session.ts`.
 */
export const browserSessionsStep: MasStep = {
  entity: 'browser sessions',
  tables: ['user_sessions'],
  run: async (context) => {
    const { target } = context;
    const total = await stage(
      context,
      'mas_browser_sessions',
      `id uuid, user_id uuid, created_at timestamptz, user_agent text, last_active_at timestamptz, last_active_ip inet,
       authentication_id uuid, authenticated_at timestamptz, kind text`,
      `select s.user_session_id, s.user_id, s.created_at, s.user_agent, s.last_active_at, s.last_active_ip,
              a.user_session_authentication_id, a.created_at,
              case when a.user_password_id is not null then 'password'
                   when a.upstream_oauth_authorization_session_id is not null then 'upstream' end
         from user_sessions s
         left join (select distinct on (user_session_id) * from user_session_authentications
                     order by user_session_id, created_at desc, user_session_authentication_id desc) a
           on a.user_session_id = s.user_session_id
        where s.finished_at is null`,
    );
    const done = await target.execute(
      `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, user_agent, created_at,
                                  last_active_at, last_active_ip)
       select m.id, m.user_id, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
              coalesce(m.authenticated_at, ${createdAtSql('m.created_at', 'm.id')}), $1::text,
              case when m.kind = 'password' then '{pwd}'::text[] else '{}'::text[] end, m.user_agent,
              ${createdAtSql('m.created_at', 'm.id')}, m.last_active_at, m.last_active_ip
         from mas_browser_sessions m
         join users u on u.id = m.user_id
        where u.deactivated_at is null`,
      [ONE_FACTOR_ACR],
    );
    await target.complete('user_sessions');
    await target.execute(
      `insert into imported_browser_sessions (user_session_id, expires_at)
       select id, $1::timestamptz from user_sessions`,
      [new Date(context.now.getTime() + IMPORTED_SESSION_SECONDS * 1000)],
    );
    await target.complete('imported_browser_sessions');
    await target.execute(
      `insert into user_session_authentications (id, user_session_id, kind, created_at)
       select m.authentication_id, m.id, m.kind, m.authenticated_at
         from mas_browser_sessions m join user_sessions s on s.id = m.id
        where m.authentication_id is not null and m.kind is not null`,
      [],
    );
    await target.complete('user_session_authentications');
    return { done, skipped: { 'no account': total - done } };
  },
};

interface SourceUpstreamSession {
  readonly id: string;
  readonly provider_id: string;
  readonly link_id: string | null;
  readonly user_session_id: string;
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly consumed_at: Date | null;
  readonly sid: string | null;
  readonly sub: string | null;
}

const NO_SECRETS = {
  nonce: undefined,
  verifier: undefined,
  isReauthentication: false,
  registrationToken: undefined,
  invitationProof: undefined,
};

/** Imports which provider session opened a browser session, so that the provider can sign users out. */
export const upstreamSessionsStep: MasStep = {
  entity: 'upstream sessions',
  tables: [],
  run: async ({ source, target, keyRing, now }) => {
    let [total, done] = [0, 0];
    for await (const rows of source.batches<SourceUpstreamSession>(
      `select a.upstream_oauth_authorization_session_id as id, a.upstream_oauth_provider_id as provider_id,
              a.upstream_oauth_link_id as link_id, a.user_session_id, a.created_at, a.completed_at, a.consumed_at,
              a.id_token_claims ->> 'sid' as sid, a.id_token_claims ->> 'sub' as sub
         from upstream_oauth_authorization_sessions a
         join user_sessions s on s.user_session_id = a.user_session_id
        where s.finished_at is null and a.unlinked_at is null`,
    )) {
      total += rows.length;
      done += await target.execute(
        `insert into upstream_authorizations (id, provider_id, link_id, user_session_id, state_hash, secrets_sealed,
                                              created_at, completed_at, consumed_at, sid, sub)
         select b.id, b.provider_id, l.id, b.user_session_id,
                sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), b.secrets, b.created_at,
                b.completed_at, coalesce(b.consumed_at, $11::timestamptz), b.sid, b.sub
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bytea[], $6::timestamptz[],
                       $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[])
             as b (id, provider_id, link_id, user_session_id, secrets, created_at, completed_at, consumed_at, sid, sub)
           join upstream_providers p on p.id = b.provider_id
           join user_sessions s on s.id = b.user_session_id
           left join upstream_links l on l.id = b.link_id`,
        [
          rows.map(({ id }) => id),
          rows.map(({ provider_id }) => provider_id),
          rows.map(({ link_id }) => link_id),
          rows.map(({ user_session_id }) => user_session_id),
          rows.map(({ id }) => sealAuthorizationSecrets(keyRing, fromUuid(id), NO_SECRETS)),
          rows.map(({ created_at }) => created_at),
          rows.map(({ completed_at }) => completed_at),
          rows.map(({ consumed_at }) => consumed_at),
          rows.map(({ sid }) => sid),
          rows.map(({ sub }) => sub),
          now,
        ],
      );
    }
    await target.complete('upstream_authorizations');
    return { done, skipped: { 'no session': total - done } };
  },
};
