/**
 * Every path that grants the administrator right, and that no other exists: by the code that can write it, and by asking
 * every route as everybody who does not have it (administration 7, security S-129).
 *
 * The right is the flag of an account, or a name in the lists of the policy data. It is granted by
 *
 * - `manage register-user --admin`, `manage promote-admin`, the first administrator of a new database, and an import
 * - the lists `policy.data.admin_users` and `policy.data.admin_clients` of the configuration
 * - `POST /users/{id}/set-admin`, `POST /policy-data` and the mutation `setCanRequestAdmin`, which need the right
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLInputType, getNamedType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildAccountSchema } from '#features/account-api/schema/schema.ts';
import { OPERATIONS } from '#features/admin-api/operations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { acceptableForms, PLACEHOLDERS } from '../hostile-input/hostile-request.ts';
import { insertTestAccount } from '../support/accounts.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { sql } from '../support/fixtures.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { sendRequest } from './raw-http.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const PASSWORD = 'correct horse battery staple';
const ADMIN = 'urn:mas:admin';
const HIGH_LIMIT = { burst: 1_000_000, per_second: 10_000 };

/** Members that somebody may try to add to a request. */
const WISHES = {
  admin: true,
  is_admin: true,
  isAdmin: true,
  can_request_admin: true,
  canRequestAdmin: true,
  admin_users: ['maren'],
  admin_clients: [CLIENT],
};

const strengthWorker = await bundleWorker(
  new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
);
const service = await sharedByTests(
  startService(
    {
      rate_limiting: {
        admin_token: { per_ip: HIGH_LIMIT },
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
        graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
        registration: HIGH_LIMIT,
      },
      account: { password_registration_enabled: true, password_recovery_enabled: true },
      clients: [
        chatClientSettings(CLIENT, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] }),
      ],
    },
    { strengthWorker },
  ),
);
const application = new ChatOAuthClient(service, CLIENT);
let maren: UserId;
let nadia: UserId;

beforeAll(async () => {
  const { core, database } = service;
  const hasher = core.hasher;
  maren = await insertTestAccount(database, { username: 'maren', password: PASSWORD }, { hasher });
  nadia = await insertTestAccount(database, { username: 'nadia', password: PASSWORD }, { hasher });
  await sql(database, 'update users set can_request_admin = true where id = $1::uuid', [toUuid(nadia)]);
  // In a group, which must not matter.
  await sql(database, `update users set groups = array['admin', '${ADMIN}'] where id = $1::uuid`, [toUuid(maren)]);
  await sql(database, 'create table grants_of_admin (what text not null)');
  await sql(
    database,
    `create function note_grant() returns trigger language plpgsql as $$
     begin
       if tg_table_name = 'policy_data' then
         insert into grants_of_admin values ('policy_data');
       elsif new.can_request_admin and (tg_op = 'INSERT' or not old.can_request_admin) then
         insert into grants_of_admin values (new.username);
       end if;
       return new;
     end $$`,
  );
  for (const table of ['users', 'policy_data']) {
    await sql(
      database,
      `create trigger note_grant after insert or update on ${table} for each row execute function note_grant()`,
    );
  }
});

/** Returns what was granted since the last call. */
async function granted(): Promise<readonly string[]> {
  const rows = await sql<{ what: string }>(service.database, 'delete from grants_of_admin returning what');
  return rows.map(({ what }) => what);
}

interface Caller {
  readonly name: string;
  readonly headers: readonly (readonly [string, string])[];
}

async function callers(): Promise<readonly Caller[]> {
  const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(service, 'maren', PASSWORD);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const token = (await application.signIn(browser, 'openid')).accessToken;
  const { body } = await application.post('/oauth2/token', { grant_type: 'client_credentials', scope: ADMIN });
  return [
    { name: 'nobody', headers: [] },
    { name: 'a user in a browser', headers: [['Cookie', cookie]] },
    { name: 'a client of a user', headers: [['Authorization', `Bearer ${token}`]] },
    { name: 'a client', headers: [['Authorization', `Bearer ${String(body['access_token'])}`]] },
  ];
}

const JSON_TYPE = ['Content-Type', 'application/json'] as const;

/** Requests of every operation of the admin API, for an account, with additional members. */
async function adminRequests(target: UserId) {
  const document = await (await fetch(`${service.address}/api/spec.json`)).json();
  return OPERATIONS.filter(({ method }) => method !== 'GET').map(({ id, method, path }) => {
    const described = document.paths[`/api/admin/v1/${path}`.replaceAll(/:([a-z_]+)/g, '{$1}')]?.[method.toLowerCase()];
    const example = described?.requestBody?.content['application/json'].example ?? {};
    const body = 'admin' in example ? { ...example, admin: true } : example;
    return { id, method, target: `/api/admin/v1/${path.replaceAll(/:[a-z_]+/g, target)}`, body };
  });
}

/** Returns a value that a member of this type accepts. */
function inputOf(type: GraphQLInputType, name: string): unknown {
  if (isNonNullType(type)) return inputOf(type.ofType, name);
  if (isListType(type)) return [inputOf(type.ofType, name)];
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[0]?.value ?? named.getValues()[0]?.name;
  if (isInputObjectType(named)) {
    return Object.fromEntries(
      Object.values(named.getFields()).map((field) => [field.name, inputOf(field.type, field.name)]),
    );
  }
  switch (named.name) {
    case 'Boolean':
      return true;
    case 'Int':
      return 1;
    case 'ID':
      return `user:${maren}`;
    default:
      return name === 'username' ? 'maren' : 'x';
  }
}

/** Every mutation of the account API, with a value for each member. */
function mutations() {
  const fields = Object.values(buildAccountSchema().getMutationType()?.getFields() ?? {});
  return fields.map(({ name, args }) => {
    const [input] = args;
    if (input === undefined) return { name, body: { query: `mutation { ${name} { __typename } }` } };
    const query = `mutation ($input: ${String(input.type)}) { ${name}(input: $input) { __typename } }`;
    return { name, body: { query, variables: { input: inputOf(input.type, 'input') } } };
  });
}

describe('the right is written by no other code', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((file) => /\.tsx?$/.test(file) && !/\.test(?:-support)?\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const filesWith = (pattern: RegExp) =>
    sources
      .filter(({ text }) => pattern.test(text))
      .map(({ file }) => file)
      .toSorted();

  test.each([
    [
      'SQL that sets the flag',
      /insert into users \([^)]*can_request_admin|update users\s+set[^`]*can_request_admin =/,
      [
        'src/domain/accounts/admin-mark.ts',
        'src/domain/accounts/create-user.ts',
        'src/domain/import/mas/users.ts',
        'src/domain/import/synapse/users.ts',
      ],
    ],
    [
      'callers of `setAdmin`',
      /(?<!function )\bsetAdmin\(/,
      [
        'src/cli/admins.ts',
        'src/features/account-api/schema/set-can-request-admin.ts',
        'src/features/admin-api/operations/users.ts',
      ],
    ],
    [
      'accounts that are created with the flag',
      /canRequestAdmin: (?:true|isAdmin)\b/,
      ['src/cli/first-admin.ts', 'src/cli/register-user.ts'],
    ],
    [
      'SQL that stores policy data',
      /insert into policy_data/,
      ['src/domain/import/mas/policy-data.ts', 'src/domain/policy/store-policy-data.ts'],
    ],
    [
      'callers of `storePolicyData`',
      /(?<!function )\bstorePolicyData\(/,
      ['src/features/admin-api/operations/policy-data.ts'],
    ],
    ['where the lists become rights', /new AdminRights\(/, ['src/cli/issue-personal-token.ts', 'src/domain/core.ts']],
  ])('%s', (_what, pattern, files) => {
    expect(filesWith(pattern)).toEqual(files);
  });
});

test('no operation, mutation or form grants it to those who do not have it', { timeout: 120_000 }, async () => {
  const all = await callers();
  for (const { name, headers } of all) {
    for (const { id, method, target, body: own } of await adminRequests(maren)) {
      for (const body of [own, { ...own, ...WISHES }]) {
        const response = await sendRequest(service.address, {
          ...{ method, target },
          headers: [...headers, JSON_TYPE],
          body: JSON.stringify(body),
        });
        expect([name, id, response.status]).toEqual([name, id, expect.toBeOneOf([401, 403])]);
      }
    }
  }
  expect(await granted()).toEqual([]);
  for (const { headers } of all) {
    for (const { body } of mutations()) {
      await sendRequest(service.address, {
        ...{ method: 'POST', target: '/graphql' },
        headers: [...headers, JSON_TYPE],
        body: JSON.stringify(body),
      });
    }
  }
  expect(await granted()).toEqual([]);
  const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(service, 'maren', PASSWORD);
  await browser.get('/');
  const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const wishes = Object.keys(WISHES).map((name) => `${name}=1`);
  const posts = service.routes.filter(({ method, errorFormat }) => method === 'POST' && errorFormat !== 'admin-json');
  expect(posts.length).toBeGreaterThan(20);
  for (const { path } of posts) {
    for (const form of [...acceptableForms(path), []]) {
      const fields = form.map(([name, value]) => `${name}=${value === PLACEHOLDERS.csrf ? csrf : String(value)}`);
      for (const sent of [[], [['Cookie', cookie] as const]]) {
        await sendRequest(service.address, {
          ...{ method: 'POST', target: path.replaceAll(/:\w+/g, CLIENT) },
          headers: [...sent, ['Content-Type', 'application/x-www-form-urlencoded']],
          body: [...fields, ...wishes, `scope=${ADMIN}`].join('&'),
        });
      }
    }
  }
  expect(await granted()).toEqual([]);
});

test('administrators grant it by two operations of the admin API only', { timeout: 120_000 }, async () => {
  const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(service, 'nadia', PASSWORD);
  const { accessToken } = await application.signIn(browser, `openid ${ADMIN}`);
  const headers = [['Authorization', `Bearer ${accessToken}`] as const, JSON_TYPE];
  const granting: string[] = [];
  const ask = async (name: string, method: string, target: string, body: unknown) => {
    // Former requests may have locked or deactivated the account.
    const restored = 'can_request_admin = false, locked_at = null, deactivated_at = null';
    await sql(service.database, `update users set ${restored} where id = $1::uuid`, [toUuid(maren)]);
    await sendRequest(service.address, { method, target, headers, body: JSON.stringify(body) });
    if ((await granted()).length > 0) granting.push(name);
  };
  for (const { id, method, target, body } of await adminRequests(maren)) {
    await ask(id, method, target, body);
    await ask(`${id} with more members`, method, target, { ...body, ...WISHES });
  }
  // Additional members are refused, so each is there once.
  expect(granting.toSorted()).toEqual(['setPolicyData', 'userSetAdmin']);
});
