import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientKey, newClientKey } from '#test/support/client-assertions.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';

const ISSUER = 'https://federation.example/';
const CLAIMS = {
  iss: ISSUER,
  software_id: '4NRB1-0XZABZI9E6-5SM3R',
  client_name: 'Vouched for',
  client_uri: 'https://app.example/',
  redirect_uris: ['https://app.example/cb'],
};

const clock = new FakeClock();
let key: ClientKey;
let other: ClientKey;
let service: TestService;

beforeAll(async () => {
  key = await newClientKey('one');
  other = await newClientKey('one');
  service = await startService(
    {
      oauth: {
        dynamic_registration: { software_statement_issuers: [{ issuer: ISSUER, jwks: { keys: [key.publicJwk] } }] },
      },
      rate_limiting: { client_registration: { per_ip: { burst: 1000, per_second: 100 } } },
    },
    { clock },
  );
});
afterAll(async () => await service.stop());

async function sign(claims: Record<string, unknown>, by = key): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(by.privateKey);
}

async function register(
  body: object,
  at: { method?: string; path?: string; token?: string } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.address}/oauth2/registration${at.path ?? ''}`, {
    method: at.method ?? 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${at.token ?? ''}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('a software statement of a trusted issuer (RFC 7591 2.3)', () => {
  test("overrides the client's own metadata, in every language, and is returned", async () => {
    const statement = await sign(CLAIMS);
    const { status, body } = await register({
      client_name: 'Your bank',
      'client_name#de': 'Deine Bank',
      client_uri: 'https://evil.example/',
      redirect_uris: ['https://evil.example/cb'],
      tos_uri: 'https://app.example/terms',
      'tos_uri#de': 'https://app.example/agb',
      token_endpoint_auth_method: 'none',
      software_statement: statement,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      client_name: 'Vouched for',
      client_uri: 'https://app.example/',
      redirect_uris: ['https://app.example/cb'],
      software_id: CLAIMS.software_id,
      'tos_uri#de': 'https://app.example/agb',
      software_statement: statement,
    });
    expect(body).not.toHaveProperty('client_name#de');
    expect(body).not.toHaveProperty('iss');
    const [stored] = await sql<{ name: unknown }>(
      service.database,
      `select metadata -> 'client_name' as name from oauth2_clients order by id desc limit 1`,
    );
    expect(stored?.name).toEqual({ '': 'Vouched for' });
  });

  test('also applies when the client replaces its registration', async () => {
    const first = await register({ ...CLAIMS, client_name: 'Mine', iss: undefined });
    const { client_id, registration_access_token: token } = first.body;
    const at = { method: 'PUT', path: `/${String(client_id)}`, token: String(token) };
    const replaced = await register({ client_id, client_name: 'Mine', software_statement: await sign(CLAIMS) }, at);
    expect(replaced).toMatchObject({ status: 200, body: { client_name: 'Vouched for' } });
  });

  test('is rejected when its metadata breaks a rule', async () => {
    const software_statement = await sign({ ...CLAIMS, redirect_uris: ['http://app.example/cb'] });
    expect(await register({ software_statement })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    });
  });

  test.each<[string, () => Promise<string>, string]>([
    ['of another issuer', async () => await sign({ ...CLAIMS, iss: 'https://elsewhere.example' }), 'unapproved'],
    ['without an issuer', async () => await sign({ ...CLAIMS, iss: undefined }), 'unapproved'],
    ['of another key with the same id', async () => await sign(CLAIMS, other), 'invalid'],
    ['that was changed', async () => await changed(await sign(CLAIMS)), 'invalid'],
    ['without a signature', async () => `${unsigned({ alg: 'none' })}.${unsigned(CLAIMS)}.`, 'unapproved'],
    ['that has expired', async () => await sign({ ...CLAIMS, exp: clock.now() / 1000 - 61 }), 'invalid'],
    ['with an invalid time', async () => await sign({ ...CLAIMS, exp: 'never' }), 'invalid'],
    ['that is not valid yet', async () => await sign({ ...CLAIMS, nbf: clock.now() / 1000 + 61 }), 'invalid'],
  ])('%s is rejected', async (_what, statement, code) => {
    const response = await register({ ...CLAIMS, software_statement: await statement() });
    expect(response).toMatchObject({ status: 400, body: { error: `${code}_software_statement` } });
  });
});

function unsigned(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

async function changed(statement: string): Promise<string> {
  const [header, , signature] = statement.split('.');
  return `${header}.${unsigned({ ...CLAIMS, client_name: 'Your bank' })}.${signature}`;
}
