/**
 * Tests every operation of the admin API with every kind of missing right (operations 4.1, security S-129), and with
 * absent objects and invalid input (operations 10.8).
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { insertTestAccount } from '../support/accounts.ts';
import { AdminClient } from '../support/admin-client.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { sql } from '../support/fixtures.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { type RawRequest, type RawResponse, sendRequest } from './raw-http.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PASSWORD = 'correct horse battery staple';
const ADMIN = 'urn:mas:admin';
const HIGH_LIMIT = { burst: 1_000_000, per_second: 10_000 };

interface Requested {
  readonly method: string;
  readonly target: string;
  /** The path template: `/api/admin/v1/users/{id}`. */
  readonly path: string;
  /** The example from the API description. Undefined if the operation takes no body. */
  readonly body: unknown;
}
let application: ChatOAuthClient;
let operations: readonly Requested[];
let users = 0;

const service = await sharedByTests(
  startService({
    rate_limiting: {
      admin_token: { per_ip: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    },
    clients: [
      chatClientSettings(CLIENT, { grant_types: ['client_credentials', 'authorization_code', 'refresh_token'] }),
    ],
    policy: { data: { admin_clients: [CLIENT] } },
  }),
);

beforeAll(async () => {
  application = new ChatOAuthClient(service, CLIENT);
  operations = await describedOperations();
});

/** Reads the published API description, so that new operations are covered automatically. */
async function describedOperations(): Promise<readonly Requested[]> {
  const document = await (await fetch(`${service.address}/api/spec.json`)).json();
  return Object.entries<DescribedMethods>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      target: path.replaceAll(/\{\w+\}/g, ABSENT),
      path,
      body: requestBody?.content['application/json'].example,
    })),
  );
}

interface DescribedMethods {
  readonly [method: string]: {
    readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  };
}

async function administrator() {
  users += 1;
  const username = `adele${users}`;
  const account = { username, password: PASSWORD };
  const id = await insertTestAccount(service.database, account, { hasher: service.core.hasher });
  await change('users set can_request_admin = true', id);
  const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(service, username, PASSWORD);
  return { id, username, browser, signIn: async (scope: string) => await application.signIn(browser, scope) };
}

async function change(what: string, id: string, column = 'id'): Promise<void> {
  await sql(service.database, `update ${what} where ${column} = $1::uuid`, [uuidOf(id)]);
}

const uuidOf = (id: string) => toUuid(parseId(id) ?? expect.fail('no id'));
const accessToken = async (scope = `openid ${ADMIN}`) => {
  const user = await administrator();
  return { ...user, ...(await user.signIn(scope)) };
};
const bearer = (token: string): [string, string][] => [['Authorization', `Bearer ${token}`]];

/** Creates a token as one administrator that acts as another. */
async function personalToken(scope = ADMIN): Promise<{ owner: UserId; actor: UserId; id: string; token: string }> {
  const [owner, actor] = [await accessToken(), await administrator()];
  const body = { actor_user_id: actor.id, human_name: 'a program', scope };
  const made = await new AdminClient(service, owner.accessToken).post('personal-sessions', body);
  const { id, attributes } = made.body.data ?? expect.fail(JSON.stringify(made.body));
  return { owner: owner.id, actor: actor.id, id, token: String(attributes['access_token']) };
}

async function askAll(more: Omit<RawRequest, 'target' | 'method'>, query = ''): Promise<[Requested, RawResponse][]> {
  const responses: [Requested, RawResponse][] = [];
  for (const requested of operations) {
    const target = requested.target + query;
    responses.push([requested, await sendRequest(service.address, { method: requested.method, target, ...more })]);
  }
  return responses;
}

type Refusal = Omit<RawRequest, 'target' | 'method'> & { readonly query?: string };

const MISSING = [401, 'missing_token', 'Bearer'] as const;
const INVALID = [401, 'invalid_token', 'Bearer error="invalid_token"'] as const;
const LACKING = [403, 'insufficient_scope', `Bearer error="insufficient_scope", scope="${ADMIN}"`] as const;

/** A description, the expected rejection, and the request. */
const REFUSALS: readonly [
  what: string,
  how: readonly [number, string, string | undefined],
  make: () => Promise<Refusal>,
][] = [
  ['no header', MISSING, async () => ({})],
  ['a cookie alone', MISSING, async () => ({ headers: await cookies() })],
  [
    'a cookie from a page of another origin',
    MISSING,
    async () => ({ headers: [...(await cookies()), ['Origin', 'https://evil.example']] }),
  ],
  ['a token in the query', MISSING, async () => ({ query: `?access_token=${(await accessToken()).accessToken}` })],
  [
    'a token in the body',
    MISSING,
    async () => ({
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: `access_token=${(await accessToken()).accessToken}`,
    }),
  ],
  ['a header of another scheme', INVALID, async () => ({ headers: [['Authorization', 'Basic YTpi']] })],
  ['a header without a token', INVALID, async () => ({ headers: [['Authorization', 'Bearer']] })],
  ['a malformed token', INVALID, async () => ({ headers: bearer('mat_x') })],
  [
    'a token with a wrong checksum',
    INVALID,
    async () => {
      const { accessToken: token } = await accessToken();
      return { headers: bearer(token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')) };
    },
  ],
  [
    'two headers',
    INVALID,
    async () => {
      const { accessToken: token } = await accessToken();
      return { headers: [...bearer(token), ...bearer(token)] };
    },
  ],
  [
    'an unknown token',
    INVALID,
    async () => {
      const { id, accessToken: token } = await accessToken();
      const ofUser = 'session_id in (select id from oauth2_sessions where user_id = $1::uuid)';
      await sql(service.database, `delete from oauth2_access_tokens where ${ofUser}`, [uuidOf(id)]);
      return { headers: bearer(token) };
    },
  ],
  [
    'an expired token',
    INVALID,
    async () => {
      const { id, accessToken: token } = await accessToken();
      const ofUser = 'session_id in (select id from oauth2_sessions where user_id = $1::uuid)';
      const past = `oauth2_access_tokens set expires_at = now() - interval '1 hour'`;
      await sql(service.database, `update ${past} where ${ofUser}`, [uuidOf(id)]);
      return { headers: bearer(token) };
    },
  ],
  [
    'a revoked token',
    INVALID,
    async () => {
      const { accessToken: token } = await accessToken();
      expect((await application.post('/oauth2/revoke', { token })).status).toBe(200);
      return { headers: bearer(token) };
    },
  ],
  ['a refresh token', INVALID, async () => ({ headers: bearer((await accessToken()).refreshToken) })],
  [
    'a token of a chat client',
    INVALID,
    async () => {
      const { username } = await administrator();
      return { headers: bearer((await new ChatClient(service).login(username, PASSWORD)).accessToken) };
    },
  ],
  ...(['locked_at', 'deactivated_at'] as const).map((mark): (typeof REFUSALS)[number] => [
    `a token of a person whose ${mark} is set`,
    INVALID,
    async () => {
      const { id, accessToken: token } = await accessToken();
      await change(`users set ${mark} = now()`, id);
      return { headers: bearer(token) };
    },
  ]),
  [
    'a token of a finished session',
    INVALID,
    async () => {
      const { id, accessToken: token } = await accessToken();
      await change('oauth2_sessions set finished_at = now()', id, 'user_id');
      return { headers: bearer(token) };
    },
  ],
  ['a token of another scope', LACKING, async () => ({ headers: bearer((await accessToken('openid')).accessToken) })],
  [
    'a token of a user who is no longer an administrator',
    LACKING,
    async () => {
      const { id, accessToken: token } = await accessToken();
      await change('users set can_request_admin = false', id);
      return { headers: bearer(token) };
    },
  ],
  ...(
    [
      ['whose actor is deactivated', 'actor', 'users set deactivated_at = now()'],
      ['whose owner is locked', 'owner', 'users set locked_at = now()'],
      ['whose owner is deactivated', 'owner', 'users set deactivated_at = now()'],
      ['that is revoked', 'id', 'personal_sessions set revoked_at = now()'],
    ] as const
  ).map(([what, of, marks]): (typeof REFUSALS)[number] => [
    `a personal token ${what}`,
    INVALID,
    async () => {
      const made = await personalToken();
      await change(marks, made[of]);
      return { headers: bearer(made.token) };
    },
  ]),
  [
    'an expired personal token',
    INVALID,
    async () => {
      const { id, token } = await personalToken();
      const past = `personal_access_tokens set expires_at = now() - interval '1 hour'`;
      await change(past, id, 'session_id');
      return { headers: bearer(token) };
    },
  ],
  [
    'a personal token of another scope',
    LACKING,
    async () => ({ headers: bearer((await personalToken('openid')).token) }),
  ],
  [
    'a personal token whose owner is no longer an administrator',
    LACKING,
    async () => {
      const { owner, token } = await personalToken();
      await change('users set can_request_admin = false', owner);
      return { headers: bearer(token) };
    },
  ],
];

async function cookies(): Promise<[string, string][]> {
  const { browser } = await administrator();
  return [['Cookie', [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')]];
}

const actions = () => service.logLines().filter((line) => line.includes(' admin.action '));

describe('every admin API operation', () => {
  test.each(REFUSALS)('%s: refused without any effect', async (_what, [status, code, challenge], make) => {
    const { query, ...request } = await make();
    const done = actions().length;
    for (const [{ method, target }, { status: given, headers, body }] of await askAll(request, query)) {
      const { errors } = JSON.parse(body);
      expect([method, target, given, errors[0].code, headers.get('www-authenticate')]).toEqual([
        ...[method, target, status, code],
        challenge && [challenge],
      ]);
      expect(headers.get('access-control-allow-credentials')).toBeUndefined();
      expect(headers.get('cache-control')).toEqual(['no-store']);
    }
    expect(actions().length).toBe(done);
  });

  test.each([
    ['an administrator', async () => (await accessToken()).accessToken],
    [
      'an application without a user',
      async () => {
        const form = { grant_type: 'client_credentials', scope: ADMIN };
        return String((await application.post('/oauth2/token', form)).body['access_token']);
      },
    ],
    [
      'a personal token whose actor is locked',
      async () => {
        const { actor, token } = await personalToken();
        await change('users set locked_at = now()', actor);
        return token;
      },
    ],
  ])('%s: authorized, whatever the outcome', async (_what, make) => {
    for (const [{ method, target }, { status }] of await askAll({ headers: bearer(await make()) })) {
      expect([method, target, status]).toEqual([method, target, expect.toSatisfy(isNoRefusal)]);
    }
  });
});

describe('every admin API operation, called by an authorized client', () => {
  const JSON_TYPE: [string, string] = ['Content-Type', 'application/json'];
  let headers: [string, string][];
  beforeAll(async () => {
    const form = { grant_type: 'client_credentials', scope: ADMIN };
    headers = bearer(String((await application.post('/oauth2/token', form)).body['access_token']));
  });

  /** Sends a request. @returns for example `users: 404 not_found` */
  async function responseTo(
    { method, path }: Requested,
    target: string,
    body?: string,
    type = JSON_TYPE,
  ): Promise<string> {
    const sent = body === undefined ? {} : { body };
    const response = await sendRequest(service.address, { method, target, headers: [...headers, type], ...sent });
    const { errors } = JSON.parse(response.body === '' ? '{}' : response.body);
    return `${method} ${path}: ${response.status} ${errors?.[0].code}`;
  }

  const named = () => operations.filter(({ path }) => path.includes('{'));
  const bodyOf = ({ body }: Requested) => (body === undefined ? undefined : JSON.stringify(body));

  test('returns 404 for what does not exist', async () => {
    const done = actions().length;
    const responses = await Promise.all(
      named().map((requested) => responseTo(requested, requested.target, bodyOf(requested))),
    );
    expect(responses).toEqual(named().map(({ method, path }) => `${method} ${path}: 404 not_found`));
    expect(named().length).toBeGreaterThan(30);
    expect(actions().length).toBe(done);
  });

  test.each(['x', `${ABSENT}0`, ABSENT.replace('0', '9'), ABSENT.replace('T', 'U'), '%00'])(
    'returns 400 for the malformed id %s',
    async (id) => {
      const byId = named().filter(({ path }) => path.includes('{id}'));
      const target = ({ path }: Requested) => path.replace('{id}', id);
      const responses = await Promise.all(
        byId.map((requested) => responseTo(requested, target(requested), bodyOf(requested))),
      );
      expect(responses).toEqual(byId.map(({ method, path }) => `${method} ${path}: 400 invalid_id`));
    },
  );

  test('returns 400 for an invalid body and 415 for another content type, without any effect', async () => {
    const ids = await existing();
    const done = actions().length;
    const taking = operations.filter(({ body }) => body !== undefined);
    expect(taking.length).toBeGreaterThan(10);
    for (const requested of taking) {
      const [, resource = ''] = /^\/api\/admin\/v1\/([\w-]+)\/\{/.exec(requested.path) ?? [];
      const target = requested.path.replace('{id}', ids[resource] ?? ABSENT);
      const name = `${requested.method} ${requested.path}`;
      for (const body of ['{', '[]', '"text"', 'null', '{"no_such_member":1}']) {
        expect([body, await responseTo(requested, target, body)]).toEqual([body, `${name}: 400 invalid_request`]);
      }
      const asText = await responseTo(requested, target, bodyOf(requested), ['Content-Type', 'text/plain']);
      expect(asText).toBe(`${name}: 415 unsupported_media_type`);
    }
    expect(actions().length).toBe(done);
  });
});

/** Creates objects for operations with a body to change. Returns their IDs by resource. */
async function existing(): Promise<Readonly<Record<string, string>>> {
  const { actor, id, token } = await personalToken();
  const admin = new AdminClient(service, token);
  const made = await admin.post('user-registration-tokens', {});
  const client = await admin.post('oauth2-clients', { client_auth_method: 'client_secret_basic' });
  const group = await admin.post('groups', { name: `crew ${users}` });
  return {
    users: actor,
    groups: group.body.data?.id ?? '',
    'oauth2-clients': client.body.data?.id ?? '',
    'personal-sessions': id,
    'user-registration-tokens': made.body.data?.id ?? '',
  };
}

function isNoRefusal(status: number): boolean {
  return status !== 401 && status !== 403 && status < 500;
}
