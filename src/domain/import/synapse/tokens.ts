/** Tokens keep working, so clients stay signed in. Only their digests are stored. */
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { parseChatClientToken } from '#protocol/oauth/chat-client-token.ts';
import { ACCOUNT_OF_ROW, columnsOf, endOf, type ImportContext, type ImportStep, localpartOf } from './entity.ts';

interface SourceAccessToken {
  readonly user_id: string;
  readonly device_id: string | null;
  readonly token: string;
  readonly valid_until_ms: number | null;
  readonly used: boolean | null;
}

interface SourcePair {
  readonly user_id: string;
  readonly device_id: string;
  readonly refresh_token: string;
  readonly token: string | null;
  readonly valid_until_ms: number | null;
  readonly used: boolean | null;
}

interface NewAccessToken {
  readonly id: string;
  readonly username: string | null;
  readonly deviceId: string | null;
  /** ID of the session for a token without a device. */
  readonly sessionId: string | null;
  readonly hash: Buffer;
  readonly expiresAt: Date | null;
  readonly usedAt: Date | null;
}

/** Excludes tokens of administrators who act as another user. They would become the administrator's own tokens. */
const OWN = 'puppets_user_id is null';

/** The session of a row `b`'s device, whose account is `u`. */
const SESSION_OF_DEVICE = `select s.id from compat_sessions s
  where s.user_id = u.id and s.device_id = b.device_id and ${compatSessionIsLive('s')} limit 1`;

/** Imports access tokens that cannot be refreshed. A token without a device gets a session without one. */
export const accessTokensStep: ImportStep<SourceAccessToken> = {
  entity: 'access tokens',
  tables: ['access_tokens'],
  source: `select user_id, device_id, token, valid_until_ms, used
             from access_tokens where refresh_token_id is null and ${OWN}`,
  load: async (context, rows) => {
    const usable = rows.filter(({ token }) => parseChatClientToken(token)?.kind === 'access-token');
    const tokens = usable.map((row) => newAccessToken(context, row));
    const alone = tokens.filter(({ deviceId }) => deviceId === null);
    await context.target.execute(
      `insert into compat_sessions (id, user_id, created_at)
       select b.session_id, u.id, u.created_at
         from unnest($1::uuid[], $2::text[]) as b (session_id, username)
         ${ACCOUNT_OF_ROW}`,
      columnsOf(alone, ['sessionId', 'username']),
    );
    const done = await insertAccessTokens(context, tokens);
    return {
      done,
      skipped: { 'unknown form': rows.length - usable.length, 'unknown account': tokens.length - done },
    };
  },
};

/**
 * Imports refresh tokens along with their access tokens. Synapse accepts a used refresh token until its successor has
 * been used; in that case both are imported.
 */
export const refreshTokensStep: ImportStep<SourcePair> = {
  entity: 'refresh tokens',
  tables: ['refresh_tokens'],
  source: `select r.user_id, r.device_id, r.token as refresh_token, a.token, a.valid_until_ms, a.used
             from refresh_tokens r
             left join access_tokens a on a.refresh_token_id = r.id and a.${OWN}
            where not exists (select from access_tokens n where n.refresh_token_id = r.next_token_id and n.used)
              and not exists (select from refresh_tokens n where n.id = r.next_token_id and n.next_token_id is not null)
              and coalesce(least(r.expiry_ts, r.ultimate_session_expiry_ts) > extract(epoch from now()) * 1000, true)`,
  load: async (context, rows) => {
    const usable = rows.filter(({ refresh_token: token }) => parseChatClientToken(token)?.kind === 'refresh-token');
    const pairs = usable.map((row) => {
      const { token } = row;
      const isUsable = token !== null && parseChatClientToken(token)?.kind === 'access-token';
      const access = isUsable ? newAccessToken(context, { ...row, token }) : undefined;
      return {
        id: toUuid(newId(context.now)),
        username: localpartOf(row.user_id, context.suffix) ?? null,
        deviceId: row.device_id,
        hash: sha256(row.refresh_token),
        access,
        accessTokenId: access?.id ?? null,
      };
    });
    await insertAccessTokens(
      context,
      pairs.flatMap(({ access }) => access ?? []),
    );
    const done = await context.target.execute(
      `insert into compat_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
       select b.id, s.id, b.hash, b.access_token_id, $6::timestamptz
         from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::uuid[])
           as b (id, username, device_id, hash, access_token_id)
         ${ACCOUNT_OF_ROW}
         join lateral (${SESSION_OF_DEVICE}) s on true`,
      [...columnsOf(pairs, ['id', 'username', 'deviceId', 'hash', 'accessTokenId']), new Date(context.now)],
    );
    return {
      done,
      skipped: { 'unknown form': rows.length - usable.length, 'unknown account': pairs.length - done },
    };
  },
  end: async ({ target }) => await target.complete('compat_access_tokens', 'compat_refresh_tokens'),
};

function newAccessToken({ suffix, now }: ImportContext, row: SourceAccessToken): NewAccessToken {
  return {
    id: toUuid(newId(now)),
    username: localpartOf(row.user_id, suffix) ?? null,
    deviceId: row.device_id,
    sessionId: row.device_id === null ? toUuid(newId(now)) : null,
    hash: sha256(row.token),
    expiresAt: endOf(row.valid_until_ms),
    usedAt: row.used === true ? new Date(now) : null,
  };
}

async function insertAccessTokens({ target, now }: ImportContext, tokens: readonly NewAccessToken[]): Promise<number> {
  return await target.execute(
    `insert into compat_access_tokens (id, session_id, token_hash, created_at, expires_at, first_used_at)
     select b.id, s.id, b.hash, $8::timestamptz, b.expires_at, b.used_at
       from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::bytea[], $6::timestamptz[], $7::timestamptz[])
         as b (id, username, device_id, session_id, hash, expires_at, used_at)
       ${ACCOUNT_OF_ROW}
       join lateral (
         select id from compat_sessions where id = b.session_id
         union all
         (${SESSION_OF_DEVICE})
         limit 1
       ) s on true`,
    [...columnsOf(tokens, ['id', 'username', 'deviceId', 'sessionId', 'hash', 'expiresAt', 'usedAt']), new Date(now)],
  );
}
