import { beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '#domain/clients/client.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { AdminRights } from '#domain/records/admin-rights.ts';
import { SessionLimit } from '#domain/records/session-limit.ts';
import { toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { testConfig } from '#test/support/app.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import {
  insertBrowserSession,
  insertClient,
  insertFulfilledGrant,
  insertUser,
  randomRoot,
  sql,
} from '#test/support/fixtures.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';
import { introspectToken } from './introspect.ts';
import { findCode } from './judge-code.ts';
import { prepareRedemption } from './open-session.ts';
import { redeemAuthorizationCode } from './redeem-authorization-code.ts';
import { type Refreshed, type RefreshOutcome, type RefreshRequest, refresh } from './refresh.ts';
import type { TokenSettings } from './token-settings.ts';

const root = randomRoot();
const keys = new KeyRing(root);
const settings: TokenSettings = {
  accessTokenTtlSeconds: 300,
  resourceTokenTtlSeconds: new Map(),
  authorizationCodeTtlSeconds: 60,
  refreshGraceSeconds: 30,
  sessionMaxLifetimeSeconds: undefined,
};

const scopeRules = new ScopeRules('chat');
const resourceRules = new ResourceRules(scopeRules, [], []);
const rights = new AdminRights({ scopeRules, users: new Set(), clients: new Set() });
let clock: FakeClock;
let client: Client;
let userId: UserId;

const db = await sharedByTests(createTestDatabase());
const second = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(db.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);

beforeEach(async () => {
  clock = new FakeClock();
  const id = await insertClient(db.database, keys, clock.now(), { secret: 'a secret of this client' });
  client = await clientById(id);
  userId = await insertUser(db.database, clock.now());
});

async function clientById(id: Client['id']): Promise<Client> {
  const found = await new ClientDirectory(db.database, keys, clock).find(id);
  if (found === undefined) throw new Error('no such client');
  return found;
}

async function signIn(scope: readonly string[] = ['openid', 'profile']): Promise<{
  sessionId: OAuth2SessionId;
  refreshToken: string;
  accessToken: string;
}> {
  const browserSessionId = await insertBrowserSession(db.database, userId, clock.now());
  const { code } = await insertFulfilledGrant(db.database, clock.now(), {
    clientId: client.id,
    browserSessionId,
    scope,
  });
  const row = await findCode(db.database, client, code);
  if (row === undefined) throw new Error('the code is unknown');
  const redemption = prepareRedemption(row, client, { scope, resources: [], key: undefined }, settings, clock.now());
  const redeeming = {
    ...{ row, client, presentedAt: clock.now() },
    device: { id: undefined, name: undefined, userAgent: undefined, address: undefined },
    waiting: { signal: new AbortController().signal, beginWrite: () => true },
    prepare: async () => await Promise.resolve({ redemption }),
  };
  const sessionLimit = new SessionLimit(undefined, undefined);
  const homeserver = openHomeserver({
    config: testConfig('http://localhost/', []),
    clock,
    log: silentLog,
    version: '',
  });
  const deps = { database: db.database, clock, log: silentLog, homeserver, sessionLimit };
  expect(await redeemAuthorizationCode(deps, redeeming, settings)).toMatchObject({ ok: true });
  const { sessionId, refreshToken, accessToken } = redemption;
  if (refreshToken === undefined) throw new Error('no refresh token');
  return { sessionId, refreshToken, accessToken };
}

async function present(
  refreshToken: string,
  options: Partial<RefreshRequest> & {
    by?: Client;
    database?: OpenDatabase;
    rules?: TokenSettings;
    keys?: KeyRing;
  } = {},
): Promise<RefreshOutcome> {
  return await refresh(
    options.database ?? db.database,
    options.by ?? client,
    {
      refreshToken,
      narrowScope: (granted) => granted,
      resources: [],
      provenKey: undefined,
      bindingKey: () => undefined,
      address: '203.0.113.7',
      userAgent: 'test',
      syncsDevices: false,
      ...options,
    },
    options.rules ?? settings,
    rights,
    resourceRules,
    (options.keys ?? keys).deriveAll('refresh-rotation'),
    clock.now(),
  );
}

async function mustRefresh(refreshToken: string, options: Parameters<typeof present>[1] = {}): Promise<Refreshed> {
  const outcome = await present(refreshToken, options);
  if (!outcome.ok) throw new Error(`refused: ${outcome.reason}`);
  return outcome;
}

/** Introspects like a homeserver; a positive response marks the first use. */
async function isActive(kind: 'access-token' | 'refresh-token', token: string): Promise<boolean> {
  const presented = { kind, tokenHash: sha256(token), client: undefined, maySee: () => true };
  return (await introspectToken(db.database, { ...presented, settings, rights, now: clock.now() })) !== undefined;
}

async function accessTokenIsLive(token: string): Promise<boolean> {
  const [row] = await sql<{ live: boolean }>(
    db.database,
    `select a.revoked_at is null and s.finished_at is null as live
       from oauth2_access_tokens a join oauth2_sessions s on s.id = a.session_id where a.token_hash = $1::bytea`,
    [sha256(token)],
  );
  return row?.live === true;
}

describe('refresh token rotation', () => {
  test('row 6: a valid token yields a new pair in two statements and invalidates the former access token', async () => {
    const first = await signIn();
    const { result, task } = await measured(() => mustRefresh(first.refreshToken));
    expect(task.queries).toBe(2);
    expect(result.pair.refreshToken).not.toBe(first.refreshToken);
    expect(result.scope).toEqual(['openid', 'profile']);
    expect(result.accessTokenExpiresAt).toBe(clock.now() + 300_000);
    expect(await isActive('access-token', first.accessToken)).toBe(false);
    expect(await isActive('access-token', result.pair.accessToken)).toBe(true);
  });

  test('all refresh tokens of a session share a family tag of 12 characters and differ after it', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    expect(next.pair.refreshToken.slice(4, 16)).toBe(first.refreshToken.slice(4, 16));
    expect(next.pair.refreshToken.slice(16, 34)).not.toBe(first.refreshToken.slice(16, 34));
    expect(next.pair.accessToken.slice(4, 16)).not.toBe(first.refreshToken.slice(4, 16));
  });

  test.each([
    ['no token at all', 'x'],
    ['an access token', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
  ])('row 1: %s is rejected without a statement', async (_, text) => {
    const { result, task } = await measured(() => present(text));
    expect(result).toEqual({ ok: false, reason: 'unknown' });
    expect(task.queries).toBe(0);
  });

  test('row 1: a well-formed token of no session is rejected', async () => {
    expect(await present('mar_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz_Il6Hq1')).toEqual({ ok: false, reason: 'unknown' });
  });

  test('row 2: a token older than the stored ones ends the session of its family tag', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    await sql(db.database, 'delete from oauth2_refresh_tokens where token_hash = $1::bytea', [
      sha256(first.refreshToken),
    ]);
    expect(await present(first.refreshToken)).toMatchObject({ ok: false, reason: 'reuse', sessionId: first.sessionId });
    expect(await isActive('access-token', next.pair.accessToken)).toBe(false);
  });

  test('row 3: a token of another client is rejected and nothing changes', async () => {
    const first = await signIn();
    const attacker = await clientById(await insertClient(db.database, keys, clock.now(), { secret: 'another secret' }));
    expect(await present(first.refreshToken, { by: attacker })).toEqual({ ok: false, reason: 'other-client' });
    await mustRefresh(first.refreshToken);
    clock.advanceSeconds(31);
    expect(await present(first.refreshToken, { by: attacker })).toEqual({ ok: false, reason: 'other-client' });
    expect((await present(first.refreshToken)).ok).toBe(true);
  });

  test('row 4: the tokens of a finished session are rejected', async () => {
    const first = await signIn();
    expect(
      await endOAuth2Session(db.database, first.sessionId, {
        reason: 'client_revoked',
        now: clock.now(),
        syncsDevices: false,
      }),
    ).toBe(true);
    expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'session-ended' });
  });

  test('row 4: a locked or deactivated user is rejected meanwhile, and the session continues afterwards', async () => {
    const first = await signIn();
    for (const column of ['locked_at', 'deactivated_at']) {
      await sql(db.database, `update users set ${column} = now() where id = $1::uuid`, [toUuid(userId)]);
      expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'user' });
      await sql(db.database, `update users set ${column} = null where id = $1::uuid`, [toUuid(userId)]);
    }
    expect((await present(first.refreshToken)).ok).toBe(true);
  });

  test('row 4: a session beyond its absolute lifetime is rejected, and access tokens never outlive it', async () => {
    const rules = { ...settings, sessionMaxLifetimeSeconds: 3600 };
    const first = await signIn();
    clock.advanceSeconds(3500);
    const next = await mustRefresh(first.refreshToken, { rules });
    expect(next.accessTokenExpiresAt).toBe(clock.now() + 100_000);
    clock.advanceSeconds(100);
    expect(await present(next.pair.refreshToken, { rules })).toEqual({ ok: false, reason: 'session-expired' });
  });

  test('row 5: a revoked token is rejected', async () => {
    const first = await signIn();
    await sql(db.database, 'update oauth2_refresh_tokens set revoked_at = now() where token_hash = $1::bytea', [
      sha256(first.refreshToken),
    ]);
    expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'revoked' });
  });

  test('row 7: within the grace period the same pair is returned with the seconds left, even if used', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    expect(await isActive('access-token', next.pair.accessToken)).toBe(true);
    clock.advanceSeconds(30);
    const { result, task } = await measured(() => mustRefresh(first.refreshToken));
    expect(task.queries).toBe(1);
    expect(result.pair).toEqual(next.pair);
    expect(result.accessTokenExpiresAt).toBe(next.accessTokenExpiresAt);
  });

  test('row 7: an access token that expired within the grace period is replaced', async () => {
    const rules = { ...settings, accessTokenTtlSeconds: 60, refreshGraceSeconds: 300 };
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken, { rules });
    clock.advanceSeconds(61);
    const again = await mustRefresh(first.refreshToken, { rules });
    expect(again.pair.refreshToken).toBe(next.pair.refreshToken);
    expect(again.pair.accessToken).not.toBe(next.pair.accessToken);
    expect(again.accessTokenExpiresAt).toBe(clock.now() + 60_000);
  });

  test('row 8: a lost response is repeated later with the same refresh token and a fresh access token', async () => {
    const first = await signIn();
    const lost = await mustRefresh(first.refreshToken);
    clock.advanceSeconds(31);
    const { result: found, task } = await measured(() => mustRefresh(first.refreshToken));
    expect(task.queries).toBe(2);
    expect(found.pair.refreshToken).toBe(lost.pair.refreshToken);
    expect(found.pair.accessToken).not.toBe(lost.pair.accessToken);
    expect(await isActive('access-token', lost.pair.accessToken)).toBe(false);
    clock.advanceSeconds(3600);
    const third = await mustRefresh(first.refreshToken);
    expect(third.pair.accessToken).not.toBe(found.pair.accessToken);
    expect(await isActive('access-token', third.pair.accessToken)).toBe(true);
    expect((await present(third.pair.refreshToken)).ok).toBe(true);
  });

  test('row 8: a scope narrowed in the repeated request applies to the fresh access token', async () => {
    const first = await signIn();
    await mustRefresh(first.refreshToken);
    clock.advanceSeconds(31);
    const narrowed = await mustRefresh(first.refreshToken, { narrowScope: () => ['openid'] });
    expect(narrowed.scope).toEqual(['openid']);
    const next = await mustRefresh(narrowed.pair.refreshToken);
    expect(next.scope).toEqual(['openid', 'profile']);
  });

  test('row 8: a response lost before a change of the encryption key can still be repeated', async () => {
    const first = await signIn();
    const lost = await mustRefresh(first.refreshToken);
    clock.advanceSeconds(31);
    const rotated = new KeyRing(randomRoot(), [root]);
    const found = await mustRefresh(first.refreshToken, { keys: rotated });
    expect(found.pair.refreshToken).toBe(lost.pair.refreshToken);
    const again = await mustRefresh(first.refreshToken, { keys: rotated });
    expect(await isActive('access-token', again.pair.accessToken)).toBe(true);
  });

  test('row 9: a consumed token presented after its successor pair was used ends the session (RFC 9700 4.14.2)', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    expect(await isActive('access-token', next.pair.accessToken)).toBe(true);
    clock.advanceSeconds(31);
    expect(await present(first.refreshToken)).toMatchObject({ ok: false, reason: 'reuse' });
    expect(await present(next.pair.refreshToken)).toEqual({ ok: false, reason: 'session-ended' });
    expect(await isActive('access-token', next.pair.accessToken)).toBe(false);
    const events = await sql<{ kind: string; detail: unknown; ip: string }>(
      db.database,
      `select kind, detail, host(ip) as ip from audit_events where session_id = $1::uuid order by kind`,
      [toUuid(first.sessionId)],
    );
    expect(events).toEqual([
      { kind: 'session_ended', detail: { reason: 'refresh_token_reused' }, ip: '203.0.113.7' },
      { kind: 'session_started', detail: null, ip: null },
    ]);
  });

  test('row 9: a successor refresh token that was introspected counts as used', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    expect(await isActive('refresh-token', next.pair.refreshToken)).toBe(true);
    clock.advanceSeconds(31);
    expect(await present(first.refreshToken)).toMatchObject({ ok: false, reason: 'reuse' });
  });

  test('row 9: a consumed token whose successor is consumed too ends the session even within the grace period', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    await mustRefresh(next.pair.refreshToken);
    expect(await present(first.refreshToken)).toMatchObject({ ok: false, reason: 'reuse' });
  });

  test('a request that waited while its client continued is rejected and ends nothing', async () => {
    const first = await signIn();
    clock.advanceSeconds(1);
    const next = await mustRefresh(first.refreshToken);
    const last = await mustRefresh(next.pair.refreshToken);
    clock.advanceSeconds(-1);
    expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'overtaken' });
    expect(await isActive('access-token', last.pair.accessToken)).toBe(true);
  });

  test('a scope or resource beyond the session is rejected and the token stays usable', async () => {
    const first = await signIn();
    expect(await present(first.refreshToken, { narrowScope: () => undefined })).toEqual({ ok: false, reason: 'scope' });
    expect(await present(first.refreshToken, { resources: ['https://api.example.org/'] })).toEqual({
      ok: false,
      reason: 'resource',
    });
    expect((await present(first.refreshToken)).ok).toBe(true);
  });

  test('a client disabled or changed after it was cached gets nothing', async () => {
    const first = await signIn();
    await sql(db.database, 'update oauth2_clients set version = version + 1 where id = $1::uuid', [toUuid(client.id)]);
    expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'client-changed' });
    await sql(db.database, 'update oauth2_clients set version = version - 1, disabled_at = now() where id = $1::uuid', [
      toUuid(client.id),
    ]);
    expect(await present(first.refreshToken)).toEqual({ ok: false, reason: 'client-changed' });
  });

  test('no salt is left once a successor is consumed or the session ended, and no token is stored in plain text', async () => {
    const first = await signIn();
    const next = await mustRefresh(first.refreshToken);
    const salts = async () =>
      (
        await sql<{ salted: string[] }>(
          db.database,
          `select array_agg(encode(token_hash, 'hex') order by created_at) filter (where rotation_salt is not null) as salted
             from oauth2_refresh_tokens where session_id = $1::uuid`,
          [toUuid(first.sessionId)],
        )
      )[0]?.salted ?? [];
    expect(await salts()).toEqual([sha256(first.refreshToken).toString('hex')]);
    clock.advanceSeconds(1);
    const third = await mustRefresh(next.pair.refreshToken);
    expect(await salts()).toEqual([sha256(next.pair.refreshToken).toString('hex')]);
    await endOAuth2Session(db.database, first.sessionId, {
      reason: 'client_revoked',
      now: clock.now(),
      syncsDevices: false,
    });
    expect(await salts()).toEqual([]);
    const [dump] = await sql<{ text: string }>(
      db.database,
      `select string_agg(t::text, ' ') as text from (
         select t::text from oauth2_refresh_tokens t union all select a::text from oauth2_access_tokens a
         union all select s::text from oauth2_sessions s) t`,
    );
    for (const secret of [first.refreshToken, third.pair.refreshToken, third.pair.accessToken]) {
      expect(dump?.text).not.toContain(secret.slice(4, 34));
    }
  });
});

describe('races for one refresh token', () => {
  test('fifty simultaneous requests on two instances all get the same pair, and one pair is live', async () => {
    const first = await signIn();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        measured(() => mustRefresh(first.refreshToken, { database: index % 2 === 0 ? db.database : second })),
      ),
    );
    expect(new Set(outcomes.map(({ result }) => result.pair.refreshToken)).size).toBe(1);
    expect(new Set(outcomes.map(({ result }) => result.pair.accessToken)).size).toBe(1);
    expect(Math.max(...outcomes.map(({ task }) => task.queries))).toBeLessThanOrEqual(3);
    const [rows] = await sql<{ refresh: number; access: number }>(
      db.database,
      `select (select count(*)::int from oauth2_refresh_tokens
                where session_id = $1::uuid and consumed_at is null and revoked_at is null) as refresh,
              (select count(*)::int from oauth2_access_tokens
                where session_id = $1::uuid and revoked_at is null) as access`,
      [toUuid(first.sessionId)],
    );
    expect(rows).toEqual({ refresh: 1, access: 1 });
  });

  test('requests that are joined in one statement are decided individually', async () => {
    const sessions: Awaited<ReturnType<typeof signIn>>[] = [];
    for (let index = 0; index < 12; index += 1) sessions.push(await signIn());
    const [ended] = sessions;
    if (ended === undefined) throw new Error('no session');
    const end = { reason: 'client_revoked', now: clock.now(), syncsDevices: false } as const;
    await endOAuth2Session(db.database, ended.sessionId, end);
    const presented = Array.from({ length: 4 }, () => sessions).flat();
    const outcomes = await Promise.all(presented.map(({ refreshToken }) => present(refreshToken)));
    for (const [index, { sessionId }] of sessions.entries()) {
      const own = outcomes.filter((_, at) => presented[at]?.sessionId === sessionId);
      if (index === 0) expect(own).toEqual(own.map(() => ({ ok: false, reason: 'session-ended' })));
      else expect(new Set(own.map((outcome) => outcome.ok && outcome.pair.refreshToken)).size).toBe(1);
    }
    const stored = await sql(
      db.database,
      `select count(*)::int as total, count(*) filter (where consumed_at is null)::int as live
         from oauth2_refresh_tokens where session_id = any ($1::uuid[]) group by session_id`,
      [sessions.slice(1).map(({ sessionId }) => toUuid(sessionId))],
    );
    expect(stored).toEqual(sessions.slice(1).map(() => ({ total: 2, live: 1 })));
  });

  test('refreshes of many sessions while all are ended leave no usable token', async () => {
    for (let round = 0; round < 4; round += 1) {
      const sessions: Awaited<ReturnType<typeof signIn>>[] = [];
      for (let index = 0; index < 12; index += 1) sessions.push(await signIn());
      const refreshed = sessions.map(({ refreshToken }) => present(refreshToken));
      await sql(second, `update oauth2_sessions set finished_at = now() where id = any ($1::uuid[])`, [
        sessions.toReversed().map(({ sessionId }) => toUuid(sessionId)),
      ]);
      for (const outcome of await Promise.all(refreshed)) {
        if (outcome.ok) expect(await isActive('access-token', outcome.pair.accessToken)).toBe(false);
        else expect(outcome.reason).toBe('session-ended');
      }
    }
  });

  test('without a grace period the losers of a race still get the winner’s pair', async () => {
    const rules = { ...settings, refreshGraceSeconds: 0 };
    const first = await signIn();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        mustRefresh(first.refreshToken, { rules, database: index % 2 === 0 ? db.database : second }),
      ),
    );
    expect(new Set(outcomes.map((outcome) => outcome.pair.accessToken)).size).toBe(1);
  });

  test('twenty simultaneous late repetitions yield one refresh token and leave one live access token', async () => {
    const first = await signIn();
    await mustRefresh(first.refreshToken);
    clock.advanceSeconds(31);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        mustRefresh(first.refreshToken, { database: index % 2 === 0 ? db.database : second }),
      ),
    );
    expect(new Set(outcomes.map((outcome) => outcome.pair.refreshToken)).size).toBe(1);
    const live = await Promise.all(
      [...new Set(outcomes.map((outcome) => outcome.pair.accessToken))].map(accessTokenIsLive),
    );
    expect(live.filter((isLive) => isLive)).toHaveLength(1);
  });

  test('a refresh racing with the end of its session leaves no usable token (CVE-2026-1035)', async () => {
    for (let round = 0; round < 10; round += 1) {
      const first = await signIn();
      const [outcome] = await Promise.all([
        present(first.refreshToken),
        endOAuth2Session(second, first.sessionId, { reason: 'client_revoked', now: clock.now(), syncsDevices: false }),
      ]);
      if (outcome.ok) {
        expect(await isActive('access-token', outcome.pair.accessToken)).toBe(false);
        expect(await present(outcome.pair.refreshToken)).toEqual({ ok: false, reason: 'session-ended' });
      } else {
        expect(outcome.reason).toBe('session-ended');
      }
      const [row] = await sql<{ salts: number }>(
        db.database,
        'select count(rotation_salt)::int as salts from oauth2_refresh_tokens where session_id = $1::uuid',
        [toUuid(first.sessionId)],
      );
      expect(row?.salts).toBe(0);
    }
  });

  test('a renewal and the first use of the token that it replaces never both succeed', async () => {
    for (let round = 0; round < 10; round += 1) {
      const first = await signIn();
      const lost = await mustRefresh(first.refreshToken);
      clock.advanceSeconds(31);
      const [outcome, used] = await Promise.all([
        present(first.refreshToken, { database: second }),
        isActive('access-token', lost.pair.accessToken),
      ]);
      expect(outcome.ok).toBe(!used);
      if (!outcome.ok) expect(outcome.reason).toBe('reuse');
    }
  });
});
