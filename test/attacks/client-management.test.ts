/** Security 4.5: attacks on the management of dynamically registered clients. */
import { describe, expect, test } from 'vitest';
import type { TestService } from '../support/service.ts';
import { type AttackedClient, attackedService, basic, C1, UNKNOWN_ID } from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const attacked = attackedService();

const BODY = {
  client_name: 'Example',
  client_uri: 'https://app.example/',
  redirect_uris: ['https://app.example/cb'],
  grant_types: ['authorization_code', 'refresh_token'],
};

interface Victim extends AttackedClient<string> {
  readonly token: string;
}

async function registered(): Promise<Victim> {
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  const response = await attacked.ask({
    method: 'POST',
    target: '/oauth2/registration',
    headers,
    body: JSON.stringify(BODY),
  });
  const [secret, token] = [textMember(response, 'client_secret'), textMember(response, 'registration_access_token')];
  attacked.secrets.add(secret).add(token);
  return { id: textMember(response, 'client_id'), secret, token, callback: 'https://app.example/cb' };
}

async function manage(
  method: string,
  id: string,
  token: string,
  body?: object,
  at: TestService = attacked.service,
): Promise<RawResponse> {
  const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
  if (body !== undefined) headers.push(['Content-Type', 'application/json']);
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return await attacked.ask({ method, target: `/oauth2/registration/${id}`, headers, ...text }, at);
}

test.each(['GET', 'PUT', 'DELETE'])('%s with the token of another client changes nothing (S-55)', async (method) => {
  const [victim, attacker] = [await registered(), await registered()];
  const { accessToken, refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), attacker);
  const body = method === 'PUT' ? { ...BODY, client_id: victim.id } : undefined;
  const stranger = await attacked.changingNothing(() => manage(method, UNKNOWN_ID, attacker.token, body));
  for (const token of [attacker.token, attacker.secret, victim.secret, accessToken, refreshToken]) {
    const response = await attacked.changingNothing(() => manage(method, victim.id, token, body));
    expect(response).toMatchObject({ status: 401 });
    expect(response.body, 'as if the client did not exist').toBe(stranger.body);
  }
});

test('no token can create or change a client of the configuration (S-55)', async () => {
  const { token } = await registered();
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const body = method === 'PUT' ? { ...BODY, client_id: C1.id } : undefined;
    expect(await attacked.changingNothing(() => manage(method, C1.id, token, body))).toMatchObject({ status: 403 });
  }
});

test('a registration token ends with its client, or when the configuration takes over the client (S-55)', async () => {
  const [deleted, taken] = [await registered(), await registered()];
  expect((await manage('DELETE', deleted.id, deleted.token)).status).toBe(204);
  const uuid = `select id from oauth2_clients where metadata->>'client_uri' is not null`;
  await attacked.change(
    `update oauth2_clients set is_static = true, registration_token_hash = null
      where id in (${uuid}) and registration_token_hash = sha256(convert_to($1::text, 'UTF8'))`,
    [taken.token],
  );
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const body = (id: string) => (method === 'PUT' ? { ...BODY, client_id: id } : undefined);
    expect(await manage(method, deleted.id, deleted.token, body(deleted.id))).toMatchObject({ status: 401 });
    expect(await manage(method, taken.id, taken.token, body(taken.id))).toMatchObject({ status: 403 });
  }
});

test.each<[string, (victim: Victim) => object]>([
  ['another client_id', () => ({ client_id: C1.id })],
  ['an unknown client_id', () => ({ client_id: UNKNOWN_ID })],
  ['no client_id', () => ({ client_id: undefined })],
  ['a chosen secret', () => ({ client_secret: 'chosen by the client' })],
  ['an empty secret', () => ({ client_secret: '' })],
  ['a secret without expiry', () => ({ client_secret_expires_at: 0 })],
  ['a chosen registration token', () => ({ registration_access_token: 'mgt_x' })],
  ['another registration URL', () => ({ registration_client_uri: 'https://evil.example/' })],
  ['another creation time', () => ({ client_id_issued_at: 0 })],
  ['a redirect URI on another host', () => ({ redirect_uris: ['https://evil.example/cb'] })],
  ['a scheme that browsers execute', () => ({ redirect_uris: ['javascript:alert(1)'] })],
])('with %s the client stays unchanged (S-55)', async (_, changes) => {
  const victim = await registered();
  const body = { ...BODY, client_id: victim.id, ...changes(victim) };
  const response = await attacked.changingNothing(() => manage('PUT', victim.id, victim.token, body));
  expect(response.status).toBe(400);
  expect(['invalid_client_metadata', 'invalid_redirect_uri']).toContain(jsonOf(response)['error']);
});

test('a client gains no rights by updating its metadata (S-55)', async () => {
  const victim = await registered();
  const rights = { first_party: true, is_static: true, strict_auth_method: false, id_token_claims: false };
  const response = await manage('PUT', victim.id, victim.token, { ...BODY, client_id: victim.id, ...rights });
  expect(response.status).toBe(200);
  for (const name of Object.keys(rights)) expect(jsonOf(response)).not.toHaveProperty(name);
  const browser = await attacked.signedIn('amira');
  await browser.open(attacked.authorizeUrl(victim));
  expect(browser.page.text).toContain('This app registered itself.');
});

describe('concurrent requests on two instances (S-55)', () => {
  test('delete a client only once', async () => {
    await attacked.withSecondInstance(async (second) => {
      for (let round = 0; round < 20; round += 1) {
        const victim = await registered();
        const instances = [attacked.service, second, attacked.service, second];
        const responses = await Promise.all(
          instances.map((at) => manage('DELETE', victim.id, victim.token, undefined, at)),
        );
        expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 401, 401, 401]);
      }
    });
  });

  test('do not restore a client that is replaced while it is deleted', async () => {
    await attacked.withSecondInstance(async (second) => {
      for (let round = 0; round < 20; round += 1) {
        const victim = await registered();
        const [replaced, deleted] = await Promise.all([
          manage('PUT', victim.id, victim.token, { ...BODY, client_id: victim.id }, second),
          manage('DELETE', victim.id, victim.token),
        ]);
        expect([200, 401]).toContain(replaced.status);
        expect(deleted.status).toBe(204);
        expect((await manage('GET', victim.id, victim.token, undefined, second)).status).toBe(401);
      }
    });
  });

  test('issue one secret, however often it is requested', async () => {
    await attacked.withSecondInstance(async (second) => {
      for (let round = 0; round < 10; round += 1) {
        const victim = await registered();
        const body = { ...BODY, client_id: victim.id };
        await manage('PUT', victim.id, victim.token, { ...body, token_endpoint_auth_method: 'none' });
        const instances = [attacked.service, second, attacked.service, second];
        const responses = await Promise.all(instances.map((at) => manage('PUT', victim.id, victim.token, body, at)));
        const secrets = new Set(responses.map((response) => textMember(response, 'client_secret')));
        expect(secrets.size).toBe(1);
        for (const secret of secrets) attacked.secrets.add(secret);
      }
    });
  });

  test('leave no session of a client that is deleted during a sign-in', async () => {
    const browser = await attacked.signedIn('bruno');
    await attacked.withSecondInstance(async (second) => {
      for (let round = 0; round < 20; round += 1) {
        const victim = await registered();
        const code = await attacked.code(browser, victim);
        const [exchanged, deleted] = await Promise.all([
          attacked.exchange(victim, code, {}, second),
          manage('DELETE', victim.id, victim.token),
        ]);
        expect(deleted.status).toBe(204);
        expect([200, 400, 401]).toContain(exchanged.status);
        if (exchanged.status !== 200) continue;
        const { accessToken, refreshToken } = attacked.held(code, exchanged);
        expect(await attacked.introspect(accessToken, second)).toEqual({ active: false });
        const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
        expect([400, 401]).toContain((await attacked.post('/oauth2/token', form, basic(victim), second)).status);
      }
    });
  });
});
