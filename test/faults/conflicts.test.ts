/** Statements that the database aborts because of a conflict or a lock, and locked rows (security F-10, O-02). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';
import { registerUpToFinish } from '../support/registering.ts';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const WITHOUT_END = 1_000_000;

let service: TestService;

beforeAll(async () => {
  const worker = '../../src/domain/accounts/passwords/strength.worker.ts';
  const strengthWorker = await bundleWorker(new URL(worker, import.meta.url));
  service = await startService(
    {
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
          redirect_uris: [CALLBACK],
          first_party: true,
        },
      ],
      account: { password_registration_enabled: true },
      passwords: {
        minimum_complexity: 0,
        schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
      },
      rate_limiting: {
        login: { per_ip: { burst: 1000 }, per_account: { burst: 1000 }, per_known_browser: { burst: 1000 } },
        registration: { burst: 1000 },
        registration_check: { burst: 1000 },
      },
    },
    { expectedErrors: ['" 503 '], strengthWorker },
  );
  await service.registerUser('amira', PASSWORD);
  await sql(service.database, 'create sequence refused_writes');
});
afterAll(async () => await service.stop());

/** Makes the next writes fail with the error of an aborted transaction. */
async function refuseWrites(sqlState: string, count: number): Promise<void> {
  await sql(
    service.database,
    `create or replace function refuse_write() returns trigger language plpgsql as $$ begin
       if nextval('refused_writes') <= ${count} then raise exception 'injected' using errcode = '${sqlState}'; end if;
       return null;
     end $$`,
  );
  await sql(
    service.database,
    `do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = current_schema() loop
         execute format('create or replace trigger refused before insert or update or delete on %I
           for each statement execute function refuse_write()', name);
       end loop;
       perform setval('refused_writes', 1, false);
     end $$`,
  );
}

async function takeWrites(): Promise<number> {
  const [row] = await sql<{ tried: number }>(
    service.database,
    `select nextval('refused_writes')::integer - 1 as tried, setval('refused_writes', ${WITHOUT_END} * 2)`,
  );
  return row?.tried ?? 0;
}

async function countRows(table: string): Promise<number> {
  const [row] = await sql<{ count: number }>(service.database, `select count(*)::integer as count from ${table}`);
  return row?.count ?? 0;
}

const newBrowser = (): Browser => new Browser({ listener: service.address, publicBase: service.publicBase });

interface TestResponse {
  readonly status: number;
  readonly retryAfter: string | null | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(path: string, fields: Record<string, string>): Promise<TestResponse> {
  const response = await fetch(`${service.address}/${path}`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION },
    body: new URLSearchParams(fields),
  });
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: text === '' ? {} : JSON.parse(text) };
}

/** A repeatable change. Its preparation is not disturbed. */
interface Change {
  readonly name: string;
  /** Selects the rows that it creates or ends. The change adds exactly one. */
  readonly effect: string;
  readonly status: number;
  readonly prepare: () => Promise<() => Promise<Pick<TestResponse, 'status' | 'retryAfter'>>>;
}

async function codeOf(): Promise<string> {
  const browser = newBrowser();
  const asking = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
  await browser.open(`/authorize?${new URLSearchParams(asking)}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  return new URL((await browser.follow()).location ?? '').searchParams.get('code') ?? '';
}

async function exchange(code: string): Promise<TestResponse> {
  return await post('oauth2/token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
}

let registered = 0;

const CHANGES: readonly Change[] = [
  {
    name: 'a sign-in',
    effect: 'user_sessions',
    status: 303,
    prepare: async () => {
      const browser = newBrowser();
      return async () => {
        await browser.get('/login');
        const { status, headers } = await browser.submit({ username: 'amira', password: PASSWORD });
        return { status, retryAfter: headers['retry-after'] };
      };
    },
  },
  {
    name: 'a registration',
    effect: 'users',
    status: 303,
    prepare: async () => {
      registered += 1;
      const browser = newBrowser();
      const finish = await registerUpToFinish(browser, `bruno${registered}`);
      return async () => {
        const { status, headers } = await browser.get(finish);
        return { status, retryAfter: headers['retry-after'] };
      };
    },
  },
  {
    name: 'the exchange of a code',
    effect: 'oauth2_sessions',
    status: 200,
    prepare: async () => {
      const code = await codeOf();
      return async () => await exchange(code);
    },
  },
  {
    name: 'a refresh',
    effect: 'oauth2_refresh_tokens',
    status: 200,
    prepare: async () => {
      const { body } = await exchange(await codeOf());
      const token = String(body['refresh_token']);
      return async () => await post('oauth2/token', { grant_type: 'refresh_token', refresh_token: token });
    },
  },
  {
    name: 'a client credentials token',
    effect: 'oauth2_access_tokens',
    status: 200,
    prepare: async () => async () => await post('oauth2/token', { grant_type: 'client_credentials' }),
  },
  {
    name: 'a revocation',
    effect: 'oauth2_sessions where finished_at is not null',
    status: 200,
    prepare: async () => {
      const { body } = await exchange(await codeOf());
      const token = String(body['refresh_token']);
      return async () => await post('oauth2/revoke', { token });
    },
  },
];

describe.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
  ['an unavailable lock', '55P03'],
])('F-10: %s', (_, sqlState) => {
  test.each(CHANGES)('twice: $name is retried and takes effect once', async ({ effect, prepare, status }) => {
    const change = await prepare();
    const before = await countRows(effect);
    await refuseWrites(sqlState, 2);
    const response = await change();
    expect(await takeWrites()).toBeGreaterThan(2);
    expect(response.status).toBe(status);
    expect(await countRows(effect)).toBe(before + 1);
  });

  test.each(CHANGES)(
    'every time: $name gets 503, changes nothing, and may be retried',
    async ({ effect, prepare, status }) => {
      const change = await prepare();
      const before = await countRows(effect);
      await refuseWrites(sqlState, WITHOUT_END);
      const refused = await change();
      await takeWrites();
      expect([refused.status, refused.retryAfter]).toEqual([503, '5']);
      expect(await countRows(effect)).toBe(before);
      expect((await change()).status).toBe(status);
      expect(await countRows(effect)).toBe(before + 1);
    },
  );
});

test('F-10: rows locked by another session indefinitely: 503 in time, and one effect once they are free', async () => {
  await takeWrites();
  const holder = new pg.Client(service.connectionString);
  await holder.connect();
  try {
    for (const { effect, name, prepare, status } of CHANGES) {
      const change = await prepare();
      const before = await countRows(effect);
      await holder.query('begin');
      for (const table of ['users', 'user_registrations', 'oauth2_sessions', 'oauth2_refresh_tokens', 'oauth2_clients'])
        await holder.query(`select from ${table} for update`);
      const held = await change();
      await holder.query('rollback');
      if (held.status === 503) {
        expect(await countRows(effect), name).toBe(before);
        expect((await change()).status, name).toBe(status);
      } else expect(held.status, name).toBe(status);
      expect(await countRows(effect), name).toBe(before + 1);
    }
  } finally {
    await holder.end();
  }
}, 120_000);
