/**
 * What a token exchange (RFC 8693) must not yield: wider scope, a longer lifetime, use elsewhere, or another identity.
 */
import { describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ACCESS_TOKEN_TYPE, ID_TOKEN_TYPE, TOKEN_EXCHANGE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { ProofKey } from '../support/dpop-proofs.ts';
import {
  type AttackedClient,
  attackedService,
  basic,
  C1,
  C2,
  C3,
  CLIENT_SETTINGS,
  CQ,
  type HeldTokens,
  ISSUER,
} from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const API = 'https://api.example/';
const FILES = 'https://files.example/';
const RIGHTS = new Map<string, object>([
  [C2.id, { subjects: [C1.id], scopes: ['openid', 'email', 'read', 'write'], audiences: [API, FILES] }],
  [C3.id, { subjects: ['*'], scopes: ['openid', 'profile', 'read'], audiences: [API], impersonation: true }],
  [CQ.id, { subjects: [C2.id, C3.id, CQ.id], scopes: ['openid', 'email', 'read'] }],
]);
const attacked = attackedService({
  clients: CLIENT_SETTINGS.map((client) => {
    const token_exchange = RIGHTS.get(client.client_id);
    return token_exchange === undefined ? client : { ...client, token_exchange };
  }),
  oauth: {
    resources: [
      { identifier: API, scopes: ['read'] },
      { identifier: FILES, scopes: ['write'] },
    ],
  },
});

const SCOPE = 'openid email read';
const C2_ID = parseId<'client'>(C2.id) ?? newId<'client'>(0);
const UUID_OF_C1 = toUuid(parseId<'client'>(C1.id) ?? newId<'client'>(0));

async function held(username = 'amira', scope = SCOPE, client: AttackedClient = C1): Promise<HeldTokens> {
  return await attacked.tokens(await attacked.signedIn(username), client, { scope });
}

type Fields = Readonly<Record<string, string>>;

async function exchange(by: AttackedClient, token: string, fields: Fields = {}, dpop?: string): Promise<RawResponse> {
  const form = {
    grant_type: TOKEN_EXCHANGE_GRANT_TYPE,
    subject_token: token,
    subject_token_type: ACCESS_TOKEN_TYPE,
    ...fields,
  };
  const headers: [string, string][] = [
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['X-Forwarded-For', attacked.newAddress()],
    ['Authorization', basic(by) ?? ''],
  ];
  if (dpop !== undefined) headers.push(['DPoP', dpop]);
  const body = new URLSearchParams(form).toString();
  const response = await attacked.ask({ method: 'POST', target: '/oauth2/token', headers, body });
  if (response.status === 200) attacked.secrets.add(textMember(response, 'access_token'));
  return response;
}

async function exchanged(by: AttackedClient, token: string, fields: Fields = {}): Promise<string> {
  const response = await exchange(by, token, fields);
  expect([response.status, response.body]).toEqual([200, expect.stringContaining('access_token')]);
  return textMember(response, 'access_token');
}

function refused(response: RawResponse, error = 'invalid_request') {
  expect([response.status, jsonOf(response)['error']]).toEqual([400, error]);
  return jsonOf(response)['error_description'];
}

const INACTIVE = { active: false };

async function userinfo(token: string): Promise<number> {
  const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
  return (await attacked.ask({ method: 'GET', target: '/oauth2/userinfo', headers })).status;
}

describe('a token exchange', () => {
  test('issues the caller a token for the user that names the actor, in two statements', async () => {
    const subject = await held();
    const before = await attacked.introspect(subject.accessToken);
    await exchanged(C2, subject.accessToken);
    const response = await exchange(C2, subject.accessToken, { audience: API });
    expect(attacked.service.requestLines().at(-1)?.queries).toBe(2);
    expect(jsonOf(response)).toEqual({
      ...{ access_token: expect.stringMatching(/^mat_/), issued_token_type: ACCESS_TOKEN_TYPE, token_type: 'Bearer' },
      ...{ expires_in: expect.any(Number), scope: 'openid email read' },
    });
    const token = textMember(response, 'access_token');
    expect(await attacked.introspect(token)).toMatchObject({
      ...{ active: true, sub: before['sub'], username: 'amira', client_id: C2.id, aud: [API] },
      ...{ act: { client_id: C2.id }, auth_time: before['auth_time'], scope: 'openid email read' },
    });
    expect(await userinfo(token)).toBe(200);
    const line = attacked.service.logLines().findLast((one) => one.includes(' token.exchanged '));
    expect(line).toContain(`client=${C2.id}`);
    expect(line).toContain(`subject_client=${C1.id}`);
  });

  test('issues a token that expires no later than its subject token, also in a chain', async () => {
    const subject = await held();
    attacked.clock.advanceSeconds(200);
    const first = await exchange(C2, subject.accessToken);
    expect(jsonOf(first)['expires_in']).toBeLessThanOrEqual(100);
    attacked.clock.advanceSeconds(50);
    const second = await exchange(CQ, textMember(first, 'access_token'));
    expect(jsonOf(second)['expires_in']).toBeLessThanOrEqual(50);
    attacked.clock.advanceSeconds(51);
    refused(await exchange(C2, subject.accessToken));
    expect(await attacked.introspect(textMember(second, 'access_token'))).toEqual(INACTIVE);
  });

  test("opens one session per client and parent, and ending it does not affect the app's session", async () => {
    const subject = await held('bruno');
    const tokens = [];
    for (let count = 0; count < 3; count += 1) tokens.push(await exchanged(C2, subject.accessToken));
    const children = `oauth2_sessions s join oauth2_access_tokens t on t.session_id = s.parent_session_id
      where t.token_hash = sha256($1::text::bytea)`;
    expect(await attacked.count(children, [subject.accessToken])).toBe(1);
    // The caller may revoke its own token. The app's token stays active.
    const revoked = await attacked.post('/oauth2/revoke', { token: tokens[0] ?? '' }, basic(C2));
    expect(revoked.status).toBe(200);
    expect(await attacked.introspect(subject.accessToken)).toMatchObject({ active: true });
    expect(await attacked.introspect(tokens[2] ?? '')).toEqual(INACTIVE);
  });

  test('of an ID token is limited to the client that received it, until it expires', async () => {
    const subject = await held('amira', SCOPE, C2);
    const id = textMember(subject.answer, 'id_token');
    const asId = { subject_token_type: ID_TOKEN_TYPE };
    const response = await exchange(C2, id, { ...asId, scope: 'email' });
    expect(jsonOf(response)).toMatchObject({ scope: 'email', issued_token_type: ACCESS_TOKEN_TYPE });
    refused(await exchange(C3, id, asId));
    refused(await exchange(C2, `${id.slice(0, -4)}AAAA`, asId));
    refused(await exchange(C2, id));
    refused(await exchange(C2, subject.accessToken, asId));
    attacked.clock.advanceSeconds(3601);
    refused(await exchange(C2, id, asId));
  });
});

describe('a subject token', () => {
  test('that is unknown, of another kind, of an unlisted client or without a user gets the same refusal', async () => {
    const subject = await held();
    const foreign = await held('amira', 'openid', C3);
    const own = await attacked.post('/oauth2/token', { grant_type: 'client_credentials' }, basic(C1));
    attacked.secrets.add(textMember(own, 'access_token'));
    const said = new Set();
    for (const token of [
      ...['mat_0123456789ABCDEFGHIJabcdefghij_0WADMv', 'nonsense', subject.refreshToken, subject.code],
      ...[foreign.accessToken, textMember(own, 'access_token')],
    ]) {
      said.add(refused(await exchange(C2, token)));
    }
    expect(said.size).toBe(1);
    for (const fields of [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { subject_token_type: '' },
      { subject_token: '' },
      { requested_token_type: ID_TOKEN_TYPE },
      { actor_token: subject.accessToken },
      { actor_token: subject.accessToken, actor_token_type: ACCESS_TOKEN_TYPE },
      { actor_token_type: ACCESS_TOKEN_TYPE },
    ]) {
      refused(await exchange(C2, subject.accessToken, fields));
    }
  });

  test('is refused to clients that the operator has not allowed', async () => {
    const subject = await held();
    expect(await exchange(C1, subject.accessToken)).toMatchObject({ status: 400 });
    expect(jsonOf(await exchange(C1, subject.accessToken))['error']).toBe('unauthorized_client');
    const own = await held('amira', 'openid', C2);
    // Not even its own token: the list determines whose tokens a client may exchange.
    refused(await exchange(C2, own.accessToken));
  });

  test('that has ended, or whose user or client is disabled, is refused', async () => {
    const attempts: readonly [change: string, undo: string][] = [
      [
        "update users set locked_at = now() where username = 'amira'",
        "update users set locked_at = null where username = 'amira'",
      ],
      [
        "update users set deactivated_at = now() where username = 'amira'",
        "update users set deactivated_at = null where username = 'amira'",
      ],
      [
        `update oauth2_clients set disabled_at = now() where id = '${UUID_OF_C1}'`,
        `update oauth2_clients set disabled_at = null where id = '${UUID_OF_C1}'`,
      ],
    ];
    const subject = await held();
    const token = await exchanged(C2, subject.accessToken);
    for (const [change, undo] of attempts) {
      await attacked.change(change);
      refused(await exchange(C2, subject.accessToken));
      expect(await attacked.introspect(token), change).toEqual(INACTIVE);
      expect(await userinfo(token)).toBe(401);
      await attacked.change(undo);
      expect(await attacked.introspect(token)).toMatchObject({ active: true });
    }
    await attacked.post('/oauth2/revoke', { token: subject.accessToken }, basic(C1));
    refused(await exchange(C2, subject.accessToken));
    expect(await attacked.introspect(token)).toEqual(INACTIVE);
  });

  test('bound to a key is exchanged only with a proof of that key, for a token bound to it', async () => {
    const key = new ProofKey();
    const url = `${ISSUER}oauth2/token`;
    const prove = (by = key) => by.proof({ url, now: attacked.clock.now() });
    const code = await attacked.code(await attacked.signedIn('amira'), C1, { scope: SCOPE });
    const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: C1.callback }).toString();
    const headers: [string, string][] = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Authorization', basic(C1) ?? ''],
      ['DPoP', prove()],
    ];
    const bound = attacked.held(
      code,
      await attacked.ask({ method: 'POST', target: '/oauth2/token', headers, body: form }),
    );
    refused(await exchange(C2, bound.accessToken));
    refused(await exchange(C2, bound.accessToken, {}, prove(new ProofKey())));
    const response = await exchange(C2, bound.accessToken, {}, prove());
    expect(jsonOf(response)['token_type']).toBe('DPoP');
    expect(await attacked.introspect(textMember(response, 'access_token'))).toMatchObject({
      cnf: { jkt: key.thumbprint },
    });
  });
});

describe('scope and target', () => {
  test('never exceed the subject token or the configuration', async () => {
    const subject = await held('adele', `${SCOPE} urn:latchkey:admin profile`);
    for (const scope of [
      'urn:latchkey:admin',
      'urn:mas:admin',
      'profile',
      'write',
      'openid urn:chat:client:api:*',
      'offline_access',
      '"',
    ]) {
      refused(await exchange(C2, subject.accessToken, { scope }), 'invalid_scope');
    }
    const token = await exchanged(C2, subject.accessToken);
    expect(await attacked.introspect(token)).toMatchObject({ scope: 'openid email read' });
    const narrow = await exchanged(C2, subject.accessToken, { scope: 'openid' });
    // A dropped scope cannot be regained by exchanging the resulting token.
    refused(await exchange(CQ, narrow, { scope: 'email' }), 'invalid_scope');
    expect(await attacked.introspect(await exchanged(CQ, narrow))).toMatchObject({ scope: 'openid' });
  });

  test('leave out a scope that no client may exchange, even if this client was allowed it', async () => {
    const subject = await held('adele', `${SCOPE} urn:latchkey:admin`);
    const scopes = "'{token_exchange,scopes}'";
    const uuid = toUuid(C2_ID);
    await attacked.change(
      `update oauth2_clients set metadata = jsonb_set(metadata, ${scopes}, metadata #> ${scopes} || '"urn:latchkey:admin"')
        where id = '${uuid}'`,
    );
    attacked.service.core.clients.forget(C2_ID);
    try {
      refused(await exchange(C2, subject.accessToken, { scope: 'urn:latchkey:admin' }), 'invalid_scope');
      const token = await exchanged(C2, subject.accessToken);
      expect(await attacked.introspect(token)).toMatchObject({ scope: 'openid email read' });
    } finally {
      await attacked.change(
        `update oauth2_clients set metadata = jsonb_set(metadata, ${scopes}, (metadata #> ${scopes}) - 'urn:latchkey:admin')
          where id = '${uuid}'`,
      );
      attacked.service.core.clients.forget(C2_ID);
    }
  });

  test('foreign audiences are refused, and a token for one server cannot become one for all', async () => {
    const subject = await held();
    for (const fields of [
      { audience: 'https://other.example/' },
      { resource: ISSUER },
      { audience: C1.id },
      { audience: API, resource: 'https://other.example/' },
    ]) {
      refused(await exchange(C2, subject.accessToken, fields), 'invalid_target');
    }
    const forApi = await exchanged(C2, subject.accessToken, { audience: API, resource: 'https://api.example' });
    expect(await attacked.introspect(forApi)).toMatchObject({ aud: [API], scope: 'openid email read' });
    refused(await exchange(CQ, forApi), 'invalid_target');
    const elsewhere = await exchanged(C2, subject.accessToken, { audience: FILES });
    expect(await attacked.introspect(elsewhere)).toMatchObject({ aud: [FILES], scope: 'openid email' });
  });
});

describe('a chain of exchanges', () => {
  test('names all actors, is limited to four, and ends with its first session', async () => {
    const subject = await held();
    const first = await exchanged(C2, subject.accessToken);
    let last = first;
    for (let count = 0; count < 3; count += 1) last = await exchanged(CQ, last);
    expect(await attacked.introspect(last)).toMatchObject({
      act: { client_id: CQ.id, act: { client_id: CQ.id, act: { client_id: CQ.id, act: { client_id: C2.id } } } },
    });
    refused(await exchange(CQ, last));
    const quiet = await exchanged(C3, first);
    expect(await attacked.introspect(quiet)).toMatchObject({ act: { client_id: C2.id }, client_id: C3.id });
    await attacked.post('/oauth2/revoke', { token: subject.refreshToken }, basic(C1));
    for (const token of [first, last, quiet]) expect(await attacked.introspect(token)).toEqual(INACTIVE);
  });

  test('whose first session ends at the moment it starts is invalid as well', async () => {
    const subject = await held();
    const token = await exchanged(C2, subject.accessToken);
    const further = await exchanged(CQ, token);
    // Simulates an ending whose statement started before the child existed and therefore missed it.
    await attacked.change(
      `update oauth2_sessions set finished_at = created_at, finish_reason = 'logout'
        where id = (select session_id from oauth2_access_tokens where token_hash = sha256($1::text::bytea))`,
      [subject.accessToken],
    );
    for (const one of [token, further]) {
      expect(await attacked.introspect(one)).toEqual(INACTIVE);
      expect(await userinfo(one)).toBe(401);
    }
    refused(await exchange(CQ, token));
  });

  test('that races with the end of its session leaves no valid token', async () => {
    const subject = await held();
    const race = Array.from({ length: 12 }, async () => await exchange(C2, subject.accessToken));
    const revoked = attacked.post('/oauth2/revoke', { token: subject.accessToken }, basic(C1));
    const responses = await Promise.all(race);
    expect((await revoked).status).toBe(200);
    for (const response of responses) {
      if (response.status !== 200) refused(response);
      else expect(await attacked.introspect(textMember(response, 'access_token'))).toEqual(INACTIVE);
    }
  });

  test('with an actor token names its user, and rejects one of another client', async () => {
    const subject = await held();
    const actor = await held('bruno', 'openid', C2);
    const asActor = { actor_token: actor.accessToken, actor_token_type: ACCESS_TOKEN_TYPE };
    const bruno = (await attacked.introspect(actor.accessToken))['sub'];
    const token = await exchanged(C2, subject.accessToken, asActor);
    expect(await attacked.introspect(token)).toMatchObject({ username: 'amira', act: { sub: bruno } });
    refused(await exchange(CQ, token, asActor));
  });
});
