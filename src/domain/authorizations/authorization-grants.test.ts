import { beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertBrowserSession, insertClient, insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { AuthorizationGrantId, BrowserSessionId, ClientId, UserId } from '#vocabulary/ids.ts';
import { cancelAuthorizationGrant } from './cancel-authorization-grant.ts';
import { createAuthorizationGrant } from './create-authorization-grant.ts';
import { fulfillAuthorizationGrant } from './fulfill-authorization-grant.ts';
import { recordDecision } from './record-progress.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const REQUEST: AuthorizationRequest = {
  target: { redirectUri: 'https://app.example.org/callback', responseMode: 'query', state: 'st' },
  isRedirectUriSent: true,
  scope: ['openid', 'email'],
  resources: [],
  nonce: 'n',
  codeChallenge: undefined,
  dpopKey: undefined,
  prompts: [],
  maxAge: undefined,
  loginHint: undefined,
  uiLocales: undefined,
  acr: { values: [], isEssential: false },
  claims: { idToken: [], userinfo: [] },
  subjects: undefined,
  hintedSubject: undefined,
};
let clientId: ClientId;
let userId: UserId;
let browserSessionId: BrowserSessionId;
let addresses = 0;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  clientId = await insertClient(testDatabase.database, new KeyRing(Buffer.alloc(32, 1)), NOW, { secret: 'secret' });
  userId = await insertUser(testDatabase.database, NOW);
  browserSessionId = await insertBrowserSession(testDatabase.database, userId, NOW);
});

async function create(options: { address?: string | undefined; now?: number; user?: UserId } = {}) {
  addresses += 1;
  const made = await createAuthorizationGrant(testDatabase.database, {
    clientId,
    request: REQUEST,
    parameters: undefined,
    reference: undefined,
    expectedSubjects: [],
    userId: options.user,
    locale: undefined,
    address: 'address' in options ? options.address : `10.0.${addresses >> 8}.${addresses & 255}`,
    now: options.now ?? NOW,
    lifetimeSeconds: 3600,
  });
  return made.ok ? made.id : undefined;
}

async function created() {
  const id = await create();
  if (id === undefined) throw new Error('no grant was created');
  return id;
}

function fulfillment(id: AuthorizationGrantId, changes: Partial<Parameters<typeof fulfillAuthorizationGrant>[1]> = {}) {
  return {
    id,
    userId,
    browserSessionId,
    clientVersion: 1,
    locale: 'de',
    isDecided: true,
    rememberedScopes: [],
    rememberedResources: [],
    address: '192.0.2.1',
    userAgent: 'test',
    now: NOW + 1000,
    ...changes,
  };
}

async function row(id: AuthorizationGrantId) {
  const [found] = await sql<{
    state: string;
    code_hash: Buffer | null;
    locale: string | null;
    cancel_reason: string | null;
  }>(
    testDatabase.database,
    `select case when cancelled_at is not null then 'cancelled' when fulfilled_at is not null then 'fulfilled'
            else 'pending' end as state, code_hash, locale, cancel_reason
       from oauth2_authorization_grants where id = $1::uuid`,
    [toUuid(id)],
  );
  return found;
}

describe('authorization grants', () => {
  test('twenty parallel fulfillments create exactly one code, and only its digest is stored (R-12, S-100)', async () => {
    const id = await created();
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => fulfillAuthorizationGrant(testDatabase.database, fulfillment(id))),
    );
    const made = codes.filter((code) => code !== undefined);
    expect(made).toHaveLength(1);
    expect(made[0]).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const stored = await row(id);
    expect(stored).toMatchObject({ state: 'fulfilled', locale: 'de' });
    expect(stored?.code_hash?.equals(sha256(made[0] ?? ''))).toBe(true);
  });

  test('with simultaneous consent and cancellation the first one counts (S-100)', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await created();
      const [code, isCancelled] = await Promise.all([
        fulfillAuthorizationGrant(testDatabase.database, fulfillment(id)),
        cancelAuthorizationGrant(testDatabase.database, id, 'user', NOW),
      ]);
      expect(isCancelled).toBe(code === undefined);
    }
  });

  test('creates no code once the grant is expired or canceled', async () => {
    const expired = await created();
    expect(
      await fulfillAuthorizationGrant(testDatabase.database, fulfillment(expired, { now: NOW + 3_600_000 })),
    ).toBeUndefined();
    const cancelled = await created();
    expect(await cancelAuthorizationGrant(testDatabase.database, cancelled, 'user', NOW)).toBe(true);
    expect(await fulfillAuthorizationGrant(testDatabase.database, fulfillment(cancelled))).toBeUndefined();
    expect(await row(cancelled)).toMatchObject({ state: 'cancelled', cancel_reason: 'user' });
  });

  test.each(['locked_at', 'deactivated_at'])(
    'creates no code for an account whose %s was set after the request was read (S-102)',
    async (column) => {
      const id = await created();
      const other = await insertUser(testDatabase.database, NOW);
      const session = await insertBrowserSession(testDatabase.database, other, NOW);
      await sql(
        testDatabase.database,
        `update users set ${column} = $2::timestamptz where id = $1::uuid returning id`,
        [toUuid(other), new Date(NOW)],
      );
      const attempt = fulfillment(id, { userId: other, browserSessionId: session, rememberedScopes: ['openid'] });
      expect(await fulfillAuthorizationGrant(testDatabase.database, attempt)).toBeUndefined();
      expect(await row(id)).toMatchObject({ state: 'pending' });
      expect(await consents(other)).toEqual([]);
    },
  );

  test('creates no code for a session that has ended or belongs to another user (S-24, S-102)', async () => {
    const id = await created();
    const ended = await insertBrowserSession(testDatabase.database, userId, NOW);
    await sql(
      testDatabase.database,
      'update user_sessions set finished_at = created_at where id = $1::uuid returning id',
      [toUuid(ended)],
    );
    expect(
      await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id, { browserSessionId: ended })),
    ).toBeUndefined();
    const stranger = await insertUser(testDatabase.database, NOW);
    expect(
      await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id, { userId: stranger })),
    ).toBeUndefined();
  });

  test('creates no code for an outdated cached client', async () => {
    const id = await created();
    expect(
      await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id, { clientVersion: 2 })),
    ).toBeUndefined();
    expect(await row(id)).toMatchObject({ state: 'pending' });
  });

  test('a grant stores how and when the user authenticated', async () => {
    const id = await created();
    await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id));
    const found = await sql(
      testDatabase.database,
      `select auth_time = $2::timestamptz as has_time, acr, amr
         from oauth2_authorization_grants where id = $1::uuid`,
      [toUuid(id), new Date(NOW)],
    );
    expect(found).toEqual([{ has_time: true, acr: 'urn:latchkey:acr:1', amr: ['pwd'] }]);
  });

  test('a decision is an audit event, a skipped page is not', async () => {
    const user = await insertUser(testDatabase.database, NOW);
    const session = await insertBrowserSession(testDatabase.database, user, NOW);
    for (const isDecided of [false, true]) {
      const attempt = fulfillment(await created(), { userId: user, browserSessionId: session, isDecided });
      await fulfillAuthorizationGrant(testDatabase.database, attempt);
    }
    const events = await sql(
      testDatabase.database,
      'select kind, user_agent from audit_events where user_id = $1::uuid',
      [toUuid(user)],
    );
    expect(events).toEqual([{ kind: 'consent_given', user_agent: 'test' }]);
  });
});

describe('remembered consent', () => {
  test('accumulates later consents, in one row per user and client', async () => {
    const user = await insertUser(testDatabase.database, NOW);
    const session = await insertBrowserSession(testDatabase.database, user, NOW);
    for (const rememberedScopes of [['openid', 'email'], ['openid', 'profile'], []]) {
      const attempt = fulfillment(await created(), { userId: user, browserSessionId: session, rememberedScopes });
      await fulfillAuthorizationGrant(testDatabase.database, attempt);
    }
    expect(await consents(user)).toEqual([{ scope: ['email', 'openid', 'profile'], resources: [] }]);
    for (const rememberedResources of [['https://b.example'], [], ['https://a.example', 'https://b.example']]) {
      const attempt = fulfillment(await created(), { userId: user, browserSessionId: session, rememberedResources });
      await fulfillAuthorizationGrant(testDatabase.database, attempt);
    }
    expect(await consents(user)).toMatchObject([{ resources: ['https://a.example', 'https://b.example'] }]);
  });

  test('counts both of two simultaneous first consents', async () => {
    const user = await insertUser(testDatabase.database, NOW);
    const session = await insertBrowserSession(testDatabase.database, user, NOW);
    const grants = [await created(), await created()];
    await Promise.all(
      [['openid'], ['email']].map((rememberedScopes, index) =>
        fulfillAuthorizationGrant(
          testDatabase.database,
          fulfillment(grants[index] ?? newId(NOW), { userId: user, browserSessionId: session, rememberedScopes }),
        ),
      ),
    );
    expect(await consents(user)).toMatchObject([{ scope: ['email', 'openid'] }]);
  });
});

describe('pending grants of one address', () => {
  test('are limited to 100; those of other addresses are not counted (S-95)', async () => {
    const address = '198.51.100.1';
    for (let count = 0; count < 100; count += 1) expect(await create({ address })).toBeDefined();
    expect(await create({ address })).toBeUndefined();
    expect(await create({ address: '198.51.100.2' })).toBeDefined();
    expect(await create({ address, now: NOW + 3_600_000 })).toBeDefined();
  });

  test('count also when canceled or with an unredeemed code, but not after the exchange (S-179)', async () => {
    const address = '198.51.100.7';
    const ids: AuthorizationGrantId[] = [];
    for (let count = 0; count < 100; count += 1) ids.push((await create({ address })) ?? newId(NOW));
    for (const id of ids.slice(0, 50))
      expect(await cancelAuthorizationGrant(testDatabase.database, id, 'user', NOW)).toBe(true);
    for (const id of ids.slice(50)) {
      expect(await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id))).toBeDefined();
    }
    expect(await create({ address })).toBeUndefined();
    await sql(
      testDatabase.database,
      'update oauth2_authorization_grants set exchanged_at = fulfilled_at where id = $1::uuid returning id',
      [toUuid(ids[99] ?? newId(NOW))],
    );
    expect(await create({ address })).toBeDefined();
    expect(await create({ address })).toBeUndefined();
  });

  test('are limited to 100 per user, from any number of addresses; others are not counted (S-179)', async () => {
    const user = await insertUser(testDatabase.database, NOW);
    const other = await insertUser(testDatabase.database, NOW);
    for (let count = 0; count < 100; count += 1) expect(await create({ user })).toBeDefined();
    expect(await create({ user })).toBeUndefined();
    expect(await create({ user: other })).toBeDefined();
    expect(await create()).toBeDefined();
    expect(await create({ user, now: NOW + 3_600_000 })).toBeDefined();
  });

  test('over IPv6 are counted by network (R-40)', async () => {
    for (let count = 0; count < 100; count += 1) await create({ address: `2001:db8:1:2::${count.toString(16)}` });
    expect(await create({ address: '2001:db8:1:2:ffff::1' })).toBeUndefined();
    expect(await create({ address: '2001:db8:1:3::1' })).toBeDefined();
  });

  test('without a known address share one limit', async () => {
    for (let count = 0; count < 100; count += 1) await create({ address: undefined });
    expect(await create({ address: undefined })).toBeUndefined();
  });
});

describe('a pending decision', () => {
  test('is the first choice of the session; another session may choose for itself', async () => {
    const id = await created();
    const other = await insertBrowserSession(testDatabase.database, userId, NOW);
    expect(await recordDecision(testDatabase.database, id, 'cancel', browserSessionId, NOW)).toBe(true);
    expect(await recordDecision(testDatabase.database, id, 'consent', browserSessionId, NOW)).toBe(false);
    expect(await recordDecision(testDatabase.database, id, 'consent', other, NOW)).toBe(true);
  });

  test('is rejected once the grant is no longer pending', async () => {
    const id = await created();
    await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id));
    expect(await recordDecision(testDatabase.database, id, 'cancel', browserSessionId, NOW)).toBe(false);
    expect(
      await recordDecision(testDatabase.database, await created(), 'cancel', browserSessionId, NOW + 3_600_000),
    ).toBe(false);
  });
});

describe('cancellation', () => {
  test('by a tampered exchange ends a grant with a code, once; by the user only one without a code', async () => {
    const id = await created();
    expect(await cancelAuthorizationGrant(testDatabase.database, id, 'verifier-wrong', NOW)).toBe(false);
    await fulfillAuthorizationGrant(testDatabase.database, fulfillment(id));
    expect(await cancelAuthorizationGrant(testDatabase.database, id, 'user', NOW)).toBe(false);
    expect(await cancelAuthorizationGrant(testDatabase.database, id, 'verifier-wrong', NOW)).toBe(true);
    expect(await cancelAuthorizationGrant(testDatabase.database, id, 'verifier-wrong', NOW)).toBe(false);
  });
});

async function consents(user: UserId) {
  return await sql(testDatabase.database, 'select scope, resources from oauth2_consents where user_id = $1::uuid', [
    toUuid(user),
  ]);
}
