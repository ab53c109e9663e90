/**
 * Bounds what one unauthenticated address can store or hold: 1,000 distinct requests to every mounted route. The clock
 * stands still, so no rate limit refills. Rows are counted per route. Memory is measured over ten routes together,
 * because fewer than 10,000 requests do not stand out from garbage collection noise.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import type { Route } from '#platform/http/route.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import { acceptableForms, PLACEHOLDERS } from '../hostile-input/hostile-request.ts';
import { sql } from '../support/fixtures.ts';
import { AttackedService, basic, C1, P1, SETTINGS } from './attacked-service.ts';
import { flood } from './flood.ts';
import { requestBytes } from './raw-http.ts';

const REQUESTS = 1_000;
const ROUTES_OF_A_ROUND = 10;
const WARM_UP = 200;
const TIMEOUT_MS = 1_800_000;
/** Maximum rows per table for one address: its pending requests, and a few buckets and events. */
const MAX_ROWS = 150;
const MAX_BYTES = 1_000_000;
/** Caches may fill up, but growth in every round is a leak. */
const MAX_HELD_BYTES = 40 * REQUESTS * ROUTES_OF_A_ROUND;
const MAX_ROUNDS = 5;
const ADDRESS = '203.0.113.77';
const OTHER_ADDRESS = '203.0.113.78';

const attacked = new AttackedService(
  { ...SETTINGS, rate_limiting: {} },
  { arePasswordsChosen: true, expectedStatuses: [503] },
);
beforeAll(async () => await attacked.start());
afterAll(async () => await attacked.stop());

interface Stored {
  readonly rows: number;
  readonly bytes: number;
}

test(`${REQUESTS} distinct unauthenticated requests to each route store few rows and retain no memory`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const form = await blankForm();
  for (const route of attacked.routes()) await send(requests(route, form, OTHER_ADDRESS, WARM_UP));
  const atFirst = await stored();
  const routes = attacked.routes();
  for (let first = 0; first < routes.length; first += ROUTES_OF_A_ROUND) {
    const group = routes.slice(first, first + ROUTES_OF_A_ROUND);
    let growth = Number.POSITIVE_INFINITY;
    for (let round = 0; round < MAX_ROUNDS && growth > MAX_HELD_BYTES; round += 1) {
      const held = await heldBytes();
      for (const route of group) await expectBounded(route, form);
      growth = (await heldBytes()) - held;
    }
    const where = group.map(nameOf).join(', ');
    expect(growth, `${where}: memory that goes on growing`).toBeLessThanOrEqual(MAX_HELD_BYTES);
  }
  await expectFewRows(atFirst, 'all routes');
});

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

async function expectBounded(route: Route, form: BlankForm): Promise<void> {
  const before = await stored();
  const statuses = await send(requests(route, form, ADDRESS, REQUESTS));
  const failures = [...statuses.keys()].filter((status) => status >= 500 && status !== 503);
  expect(failures, nameOf(route)).toEqual([]);
  await expectFewRows(before, nameOf(route));
}

async function expectFewRows(before: ReadonlyMap<string, Stored>, where: string): Promise<void> {
  for (const [table, { rows, bytes }] of await stored()) {
    const had = before.get(table);
    expect(rows - (had?.rows ?? 0), `${where}: rows of ${table}`).toBeLessThanOrEqual(MAX_ROWS);
    expect(bytes - (had?.bytes ?? 0), `${where}: bytes of ${table}`).toBeLessThanOrEqual(MAX_BYTES);
  }
}

/** A CSRF token and its cookie, from a browser without a session. */
interface BlankForm {
  readonly csrf: string;
  readonly cookie: string;
}

async function blankForm(): Promise<BlankForm> {
  const browser = attacked.browser();
  await browser.get('/login');
  const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
  return { csrf, cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}

async function send(requestsOfRoute: Iterable<Buffer>): Promise<Map<number, number>> {
  const statuses = await flood(attacked.service.address, requestsOfRoute);
  // The test harness keeps log lines in memory.
  attacked.service.logLines().length = 0;
  return statuses;
}

function* requests(route: Route, form: BlankForm, address: string, count: number): Generator<Buffer> {
  const forms = acceptableForms(route.path);
  for (let index = 0; index < count; index += 1) {
    const unique = randomBase64Url();
    const fields = (forms[index % forms.length] ?? []).map(([name, value]) => [
      name,
      varied(name, value, unique, form),
    ]);
    // A public client, among others that do not exist.
    if (route.path.startsWith('/oauth2/') && index % 4 === 0) fields.push(['client_id', P1.id]);
    const path = route.path.replaceAll(/:\w+/g, () => newId(index)).replace('*', unique);
    const pairs = fields.map(([name, value]) => `${name}=${value}`);
    const { query, headers } = surroundings(index, unique, address, form);
    const isForm = route.method === 'POST';
    if (route.path === '/oauth2/registration') {
      const application = { ...APPLICATION, client_name: unique, token_endpoint_auth_method: AUTH_METHODS[index % 2] };
      const type = ['Content-Type', 'application/json'] as const;
      yield requestBytes({
        method: 'POST',
        target: path,
        headers: [...headers, type],
        body: JSON.stringify(application),
      });
      continue;
    }
    const target = `${path}?${[...(isForm ? [] : pairs), ...query].join('&')}`;
    if (!isForm) yield requestBytes({ target, headers });
    else {
      const type = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
      yield requestBytes({ method: 'POST', target, headers: [...headers, type], body: pairs.join('&') });
    }
  }
}

const APPLICATION = { client_uri: 'https://app.example/', redirect_uris: ['https://app.example/cb'] };
const AUTH_METHODS = ['none', 'client_secret_basic'];

/** Fields that select the operation stay unchanged. */
const KEPT = new Set([
  'action',
  'confirm_device',
  'code_verifier',
  'grant_type',
  'method',
  'post_logout_redirect_uri',
  'redirect_uri',
  'response_type',
  'scope',
]);

function varied(name: string, value: string, unique: string, { csrf }: BlankForm): string {
  if (KEPT.has(name) || name.startsWith('password')) return value;
  if (value === PLACEHOLDERS.csrf) return csrf;
  if (value === PLACEHOLDERS.grantId) return newId(0);
  switch (name) {
    case 'client_id':
      return unique < 'V' ? value : newId(0);
    case 'access_token':
    case 'token':
      return newToken('mat');
    case 'refresh_token':
      return newToken('mar');
    case 'code':
    case 'device_code':
      return unique;
    // Usernames must be lowercase and below the maximum length.
    case 'username':
      return `${value}${unique.toLowerCase().replaceAll(/[-_]/g, '.')}`;
    default:
      return value + unique;
  }
}

/** Adds what any request may carry: continuations, hints, cookies, credentials, and headers that may be stored. */
function surroundings(index: number, unique: string, address: string, { cookie }: BlankForm) {
  const kinds = [
    'continue_authorization_grant',
    'continue_device_code_grant',
    'continue_compat_sso_login',
    'link_upstream',
    'manage_account',
  ];
  // None that exists: the texts of a language stay in memory from its first use on.
  const language = `qq${unique.slice(0, 6)}`;
  const query = [
    `kind=${kinds[index % kinds.length] ?? ''}`,
    `id=${newId(index)}`,
    `login_hint=${unique}`,
    `nonce=${unique}`,
    `ui_locales=${language}`,
    `${unique}=x`,
  ];
  const cookies = [cookie, `__Host-latchkey_session=${unique}`, `${unique}=${unique}`];
  const headers: [string, string][] = [
    ['Connection', 'keep-alive'],
    ['X-Forwarded-For', address],
    ['User-Agent', `Mozilla/5.0 ${unique}`],
    ['Accept-Language', `${language},en;q=0.5`],
    ['Cookie', cookies.slice(0, 1 + (index % 3)).join('; ')],
    ['X-Request-Id', unique],
    ['traceparent', `00-${index.toString(16).padStart(32, '1')}-00f067aa0ba902b7-01`],
    ['If-None-Match', `"${unique}"`],
  ];
  const secret = `${unique}${unique}`;
  const credentials = [
    undefined,
    `Bearer ${newToken('mat')}`,
    `Bearer ${secret}`,
    basic({ ...C1, secret }),
    basic({ ...C1, id: newId(index), secret }),
  ][index % 5];
  if (credentials !== undefined) headers.push(['Authorization', credentials]);
  return { query, headers };
}

async function stored(): Promise<Map<string, Stored>> {
  const { database } = attacked.service;
  const tables = await sql<{ name: string; bytes: number }>(
    database,
    `select relname::text as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const counts = await sql<{ name: string; rows: number }>(
    database,
    tables.map(({ name }) => `select '${name}' as name, count(*)::integer as rows from ${name}`).join(' union all '),
  );
  const rows = new Map(counts.map((count) => [count.name, count.rows]));
  return new Map(tables.map(({ name, bytes }) => [name, { rows: rows.get(name) ?? 0, bytes }]));
}

/**
 * Returns the heap size after garbage collection. Takes the minimum of several, because closed connections are released
 * over several turns of the event loop.
 */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 4; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (typeof collect === 'function') collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}
