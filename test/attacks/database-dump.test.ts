/**
 * No value in a copy of the database works as a token, a code or a password (oauth 20 fact 4), nor in another column or
 * row (S-168).
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { openRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { SEALED_FIELDS } from '#domain/keys/sealed-fields.ts';
import { sealAuthorizationSecrets, sealResponse } from '#domain/upstream/sealed-columns.ts';
import { fromUuid, newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Browser } from '../support/browser.ts';
import { ChatClient, textOf } from '../support/chat-client.ts';
import { loginTokenOf } from '../support/chat-sso.ts';
import { assertionFields, newClientKey, signAssertion } from '../support/client-assertions.ts';
import { ProofKey } from '../support/dpop-proofs.ts';
import { sql } from '../support/fixtures.ts';
import { beginRegistration, NEW_PASSWORD } from '../support/registering.ts';
import {
  attackedService,
  basic,
  C1,
  CHALLENGE,
  HOMESERVER_SECRET,
  ISSUER,
  isConsent,
  P1,
  PASSWORD,
  SETTINGS,
  VERIFIER,
} from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const WRONG_PASSWORD = 'what amira types by mistake';
/** Shorter texts are not secrets and could match by accident. */
const LEAST_LENGTH = 8;
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const attacked = attackedService(
  { rate_limiting: { ...SETTINGS.rate_limiting, client_authentication: { per_client: HIGH_LIMIT } } },
  // A swapped row causes this error. Nothing else here does.
  {
    arePasswordsChosen: true,
    expectedStatuses: [500],
    expectedErrors: ['cannot be decrypted with secrets.encryption'],
  },
);
const { secrets } = attacked;

/** Records the cookies and CSRF tokens that a browser received. */
function remember(browser: Browser): void {
  for (const value of browser.cookies.values()) if (value.length >= 2 * LEAST_LENGTH) secrets.add(value);
  for (const { inputs } of browser.page.forms) secrets.add(inputs.get('csrf') ?? '');
}

function rememberTokens(response: RawResponse): RawResponse {
  expect(response.status).toBe(200);
  for (const name of ['access_token', 'refresh_token', 'id_token']) secrets.add(textMember(response, name));
  return response;
}

async function codeFrom(browser: Browser, address: string): Promise<string> {
  await browser.open(address);
  remember(browser);
  if (isConsent(browser.page)) await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? expect.fail('no code');
  secrets.add(code);
  return code;
}

async function signInByForm(): Promise<Browser> {
  const browser = attacked.browser();
  await browser.get('/login');
  remember(browser);
  await browser.submit({ username: 'amira', password: WRONG_PASSWORD });
  await attacked.signedIn('amira', browser);
  remember(browser);
  await browser.open('/');
  remember(browser);
  // Makes this a known browser for the next sign-in.
  await browser.submit({}, { action: '/logout' });
  await attacked.signedIn('amira', browser);
  expect([...browser.cookies.keys()].some((name) => name.endsWith('known'))).toBe(true);
  remember(browser);
  return browser;
}

async function registerByForm(): Promise<void> {
  const browser = attacked.browser();
  await beginRegistration(browser, { username: 'newcomer' });
  remember(browser);
  await browser.follow();
  remember(browser);
  await browser.submit({ action: 'skip' });
  await browser.follow();
  expect(browser.cookies.has('__Host-latchkey_session')).toBe(true);
  remember(browser);
}

async function codeAndRefresh(browser: Browser): Promise<void> {
  for (const asking of [C1, P1]) {
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const code = await codeFrom(browser, attacked.authorizeUrl(asking, pkce));
    const issued = rememberTokens(await attacked.exchange(asking, code, { code_verifier: VERIFIER }));
    const refreshed = await attacked.refresh(asking, textMember(issued, 'refresh_token'));
    // A repeated refresh returns the same token pair, although the database must not contain it.
    const repeated = await attacked.refresh(asking, textMember(issued, 'refresh_token'));
    expect(textMember(repeated, 'access_token')).toBe(textMember(refreshed, 'access_token'));
    expect(await attacked.introspect(textMember(refreshed, 'access_token'))).toMatchObject({ active: true });
  }
}

async function device(browser: Browser): Promise<void> {
  const begun = await attacked.post('/oauth2/device', { scope: 'openid' }, basic(C1));
  const [deviceCode, userCode] = [textMember(begun, 'device_code'), textMember(begun, 'user_code')];
  for (const secret of [deviceCode, userCode, userCode.replace('-', '')]) secrets.add(secret);
  await browser.get('/link');
  await browser.submit({ code: userCode });
  await browser.follow();
  remember(browser);
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(browser.page.url).pathname });
  const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode };
  rememberTokens(await attacked.post('/oauth2/token', form, basic(C1)));
  // A request without a decision.
  const waiting = await attacked.post('/oauth2/device', { scope: 'openid' }, basic(C1));
  const waitingCode = textMember(waiting, 'user_code');
  for (const secret of [textMember(waiting, 'device_code'), waitingCode, waitingCode.replace('-', '')]) {
    secrets.add(secret);
  }
}

async function pushed(browser: Browser): Promise<void> {
  const form = { client_id: C1.id, redirect_uri: C1.callback, response_type: 'code', scope: 'openid' };
  const uris = [];
  for (let count = 0; count < 2; count += 1) {
    const uri = textMember(await attacked.post('/oauth2/par', form, basic(C1)), 'request_uri');
    secrets.add(uri.slice(-43));
    uris.push(uri);
  }
  const address = `/authorize?${new URLSearchParams({ client_id: C1.id, request_uri: uris[0] ?? '' })}`;
  rememberTokens(await attacked.exchange(C1, await codeFrom(browser, address)));
  await codeFrom(browser, attacked.authorizeUrl(C1));
}

/** A dynamically registered client: a signed request, and tokens for an assertion and a DPoP key. */
async function registeredClient(browser: Browser): Promise<void> {
  const key = await newClientKey('own');
  const registered = await attacked.ask({
    method: 'POST',
    target: '/oauth2/registration',
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify({
      client_uri: 'https://app.example/',
      redirect_uris: [C1.callback],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_jwt',
      token_endpoint_auth_signing_alg: 'HS256',
      jwks: { keys: [key.publicJwk] },
    }),
  });
  const [id, secret] = [textMember(registered, 'client_id'), textMember(registered, 'client_secret')];
  const managementToken = textMember(registered, 'registration_access_token');
  const jtis = Array.from({ length: 3 }, () => randomUUID());
  const [requestJti = '', assertionJti = '', proofJti = ''] = jtis;
  const parts = { clientId: id, audience: ISSUER, now: attacked.clock.now() };
  const parameters = { client_id: id, redirect_uri: C1.callback, response_type: 'code', scope: 'openid' };
  const request = await signAssertion({
    ...parts,
    key: key.privateKey,
    claims: {
      ...parameters,
      sub: undefined,
      jti: requestJti,
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    },
  });
  const code = await codeFrom(browser, `/authorize?${new URLSearchParams({ client_id: id, request })}`);
  const assertion = await assertionFields({ ...parts, key: secret, claims: { jti: assertionJti } });
  const url = `${ISSUER}oauth2/token`;
  const proof = new ProofKey().proof({ url, now: attacked.clock.now(), claims: { jti: proofJti } });
  const grant = { grant_type: 'authorization_code', code, redirect_uri: C1.callback, code_verifier: VERIFIER };
  const response = await attacked.ask({
    method: 'POST',
    target: '/oauth2/token',
    headers: [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['DPoP', proof],
    ],
    body: new URLSearchParams({ ...grant, ...assertion }).toString(),
  });
  expect(jsonOf(rememberTokens(response))).toMatchObject({ token_type: 'DPoP' });
  const managed = await attacked.ask({
    target: `/oauth2/registration/${id}`,
    headers: [['Authorization', `Bearer ${managementToken}`]],
  });
  expect(managed.status).toBe(200);
  for (const sent of [secret, managementToken, ...jtis, request, assertion['client_assertion'] ?? '', proof]) {
    secrets.add(sent);
  }
}

/** A chat client that signs in through the browser. It exchanges one login token and leaves another unused. */
async function chatClient(browser: Browser): Promise<void> {
  const client = new ChatClient(attacked.service);
  for (const isExchanged of [true, false]) {
    const token = await loginTokenOf(browser);
    remember(browser);
    secrets.add(token);
    if (!isExchanged) continue;
    const response = await client.post('/login', { type: 'm.login.token', token, refresh_token: true });
    const refreshToken = textOf(response, 'refresh_token');
    const refreshed = await client.post('/refresh', { refresh_token: refreshToken });
    secrets.add(textOf(response, 'access_token')).add(refreshToken);
    secrets.add(textOf(refreshed, 'access_token')).add(textOf(refreshed, 'refresh_token'));
  }
}

async function registrationTokens(): Promise<void> {
  for (const token of ['invited-by-the-harbour', 'invited-by-the-quay']) {
    await attacked.service.issueRegistrationToken(token, undefined);
  }
}

/** Inserts two pending sign-ins at the same provider, each with its response received. */
async function upstreamSignIns(): Promise<void> {
  const { keyRing } = attacked.service.core;
  const now = attacked.clock.now();
  const provider = toUuid(newId(now));
  await attacked.change(
    `insert into upstream_providers (id, issuer, client_id, ui_order, created_at) values ($1::uuid, $2::text, 'latchkey', 0, $3::timestamptz)`,
    [...[provider, 'https://login.example', new Date(now)]],
  );
  for (const name of ['first', 'second']) {
    const id = newId<'upstream-authorization'>(now);
    const waiting = { nonce: `the-nonce-of-the-${name}`, verifier: `the-verifier-of-the-${name}` };
    const sealed = sealAuthorizationSecrets(keyRing, id, {
      ...waiting,
      isReauthentication: false,
      registrationToken: undefined,
      invitationProof: undefined,
    });
    const subject = `the-subject-of-the-${name}`;
    const claims = { idTokenClaims: { sub: subject }, userinfoClaims: {}, extraCallbackParameters: {} };
    for (const secret of [...Object.values(waiting), subject]) secrets.add(secret);
    await attacked.change(
      `insert into upstream_authorizations (id, provider_id, state_hash, secrets_sealed, answer_sealed, created_at)
       values ($1::uuid, $2::uuid, sha256($3::text::bytea), $4::bytea, $5::bytea, $6::timestamptz)`,
      [toUuid(id), provider, `state-of-${name}`, sealed, sealResponse(keyRing, id, claims), new Date(now)],
    );
  }
}

interface Cell {
  readonly column: string;
  /** For `bytea`, one character per byte. */
  readonly value: string;
  readonly isBinary: boolean;
}

/** Returns every value of every table. */
async function dump(database: Queryable): Promise<Cell[]> {
  const columns = await sql<{ table: string; column: string; type: string }>(
    database,
    `select table_name::text as table, column_name::text as column, data_type::text as type
       from information_schema.columns
      where table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const cells: Cell[] = [];
  for (const { table, column, type } of columns) {
    const isBinary = type === 'bytea';
    const value = isBinary ? `encode("${column}", 'hex')` : `"${column}"::text`;
    const rows = await sql<{ value: string }>(
      database,
      `select ${value} as value from "${table}" where "${column}" is not null`,
    );
    for (const row of rows) {
      const text = isBinary ? Buffer.from(row.value, 'hex').toString('latin1') : row.value;
      cells.push({ column: `${table}.${column}`, value: text, isBinary });
    }
  }
  return cells;
}

/** Returns the encodings of a database value in which an attacker could copy it. */
function writings({ value, isBinary }: Cell): string[] {
  if (!isBinary) return [value, value.toLowerCase()];
  const bytes = Buffer.from(value, 'latin1');
  return [value, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')];
}

/** Returns the encodings in which a secret, or its random part, could be stored. */
function traces(secret: string): string[] {
  const parts = [secret, ...secret.split(/[._]/)].filter((part) => part.length >= LEAST_LENGTH);
  return parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const decoded = part.length >= 20 ? [Buffer.from(part, 'base64url')] : [];
    return [
      part,
      part.toLowerCase(),
      bytes.toString('hex'),
      bytes.toString('base64').replaceAll('=', ''),
      bytes.toString('base64url'),
      ...decoded.flatMap((raw) => [raw.toString('latin1'), raw.toString('hex')]),
    ];
  });
}

/** Returns the columns that contain a secret, with its first characters. */
async function leaks(): Promise<string[]> {
  const cells = (await dump(attacked.service.database)).map((cell) => ({ ...cell, texts: writings(cell) }));
  const wanted = new Set([...secrets].filter((secret) => secret !== '').flatMap(traces));
  const found = cells.flatMap(({ column, texts }) =>
    [...wanted]
      .filter((trace) => texts.some((text) => text.includes(trace)))
      .map((trace) => `${column}: ${trace.slice(0, 12)}`),
  );
  return [...new Set(found)];
}

beforeAll(async () => {
  for (const secret of [PASSWORD, WRONG_PASSWORD, NEW_PASSWORD, HOMESERVER_SECRET, VERIFIER]) secrets.add(secret);
  await registerByForm();
  const browser = await signInByForm();
  await codeAndRefresh(browser);
  await device(browser);
  await pushed(browser);
  await registeredClient(browser);
  await chatClient(browser);
  await registrationTokens();
  await upstreamSignIns();
});

test('a dump after every flow contains no value that was issued or sent as a secret', async () => {
  for (const table of [
    'audit_events',
    'compat_access_tokens',
    'compat_refresh_tokens',
    'compat_sso_logins',
    'oauth2_access_tokens',
    'oauth2_authorization_grants',
    'oauth2_clients',
    'oauth2_device_code_grants',
    'oauth2_pushed_requests',
    'oauth2_refresh_tokens',
    'oauth2_sessions',
    'rate_limits',
    'replayed_values',
    'user_passwords',
    'user_registrations',
    'user_sessions',
  ]) {
    expect(await attacked.count(table), table).toBeGreaterThan(0);
  }
  expect(secrets.size).toBeGreaterThan(50);
  expect(await leaks()).toEqual([]);
});

test.each([
  ['a plain token', 'users', 'display_name', (token: string) => token],
  ['a token inside JSON', 'audit_events', 'detail', (token: string) => JSON.stringify({ sent: token })],
  ['a token as bytes', 'oauth2_refresh_tokens', 'token_hash', (token: string) => Buffer.from(token)],
  [
    'the bytes that a token encodes',
    'oauth2_refresh_tokens',
    'token_hash',
    (token: string) => Buffer.from(token.split('_')[1] ?? '', 'base64url'),
  ],
])('the search finds %s', async (_, table, column, written) => {
  const token = [...secrets].findLast((secret) => secret.startsWith('mar_')) ?? expect.fail('no refresh token');
  const rows = await sql<{ id: string; kept: unknown }>(
    attacked.service.database,
    `select id, ${column} as kept from ${table} order by id limit 1`,
  );
  const [row] = rows;
  const type = { display_name: 'text', detail: 'jsonb', token_hash: 'bytea' }[column] ?? 'text';
  const change = `update ${table} set ${column} = $1::${type} where id = $2::uuid`;
  const kept = type === 'jsonb' && row?.kept !== null ? JSON.stringify(row?.kept) : row?.kept;
  await attacked.change(change, [written(token), row?.id]);
  try {
    expect(await leaks()).toContainEqual(expect.stringContaining(`${table}.${column}: `));
  } finally {
    await attacked.change(change, [kept, row?.id]);
  }
});

/** Hash and ciphertext columns that these flows leave empty, and why their values are useless to an attacker. */
const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  'data_exports.archive': 'the data of a person, which nobody presents',
  'oauth2_clients.former_secret_sealed': 'what client_secret_sealed was before',
  'personal_access_tokens.token_hash': 'test/attacks/admin-matrix.test.ts: the same look-up as of other tokens',
  'queue_workers.config_digest': 'a digest of the configuration, which nobody presents',
  'queue_workers.untrusted_proxies': 'addresses of machines',
  'queue_workers.root_keys': 'check values of root keys, which nobody presents',
  'server_state.value': 'the same',
  'user_passkeys.credential_id': 'of no use without the key of the person',
  'user_passkeys.public_key': 'of no use without the key of the person',
  'user_pending_logins.setup_sealed': 'src/features/second-factor: opened for the browser that began alone',
  'user_recovery_codes.code_hmac': 'src/domain/second-factors',
  'user_recovery_tickets.ticket_hash': 'test/attacks/recovery.test.ts',
  'user_registrations.password_hash': 'until the end of a registration what user_passwords has then',
  'user_sessions.previous_key_hash': 'what key_hash was before',
  'user_totp_enrolments.secret_sealed': 'src/domain/second-factors',
  'user_totp_secrets.secret_sealed': 'src/domain/second-factors',
  'user_trusted_browsers.nonce_hash': 'src/features/second-factor',
  'webauthn_challenges.challenge_hash': 'src/features/login: a challenge counts once, and signed',
};

/** Returns the first values of each column with a hash, a ciphertext or a salt. */
async function storedSecrets(): Promise<Map<string, Cell[]>> {
  const guarded = /(_hash|_hmac|_sealed|_salt|_family)$/;
  const found = new Map<string, Cell[]>();
  for (const cell of await dump(attacked.service.database)) {
    if (!cell.isBinary && !guarded.test(cell.column)) continue;
    const cells = found.get(cell.column) ?? [];
    if (cells.length < 2) found.set(cell.column, [...cells, cell]);
  }
  return found;
}

/** Presents a value wherever the service accepts credentials. @returns the accesses gained */
async function present(value: string): Promise<readonly string[]> {
  const bearer = `Bearer ${value}`;
  const form = { redirect_uri: C1.callback };
  const gained: string[] = [];
  const tried = (what: string, isGained: boolean) => {
    if (isGained) gained.push(`${what}: ${value.slice(0, 12)}`);
  };
  const ask = async (target: string, headers: [string, string][]) => await attacked.ask({ target, headers });
  for (const hint of ['access_token', 'refresh_token']) {
    const response = await attacked.post('/oauth2/introspect', { token: value, token_type_hint: hint }, basic(C1));
    tried(`introspection as ${hint}`, jsonOf(response)['active'] !== false);
  }
  for (const fields of [
    { grant_type: 'refresh_token', refresh_token: value },
    { grant_type: 'authorization_code', code: value, ...form },
    { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: value },
  ]) {
    tried(fields.grant_type, (await attacked.post('/oauth2/token', fields, basic(C1))).status !== 400);
  }
  const asClient = basic({ ...C1, secret: value });
  tried('client secret', (await attacked.post('/oauth2/introspect', { token: 'x' }, asClient)).status !== 401);
  tried('homeserver', (await attacked.post('/oauth2/introspect', { token: 'x' }, bearer)).status !== 401);
  for (const target of ['/oauth2/userinfo', '/api/admin/v1/version', `/oauth2/registration/${C1.id}`]) {
    tried(target, (await ask(target, [['Authorization', bearer]])).status < 400);
  }
  const chat = new ChatClient(attacked.service);
  tried('chat', (await chat.post('/logout', undefined, { authorization: bearer })).status !== 401);
  tried('chat refresh', (await chat.post('/refresh', { refresh_token: value })).status !== 401);
  tried('login token', (await chat.post('/login', { type: 'm.login.token', token: value })).status !== 403);
  const cookie = await ask('/account/', [['Cookie', `__Host-latchkey_session=${value}`]]);
  tried('session cookie', cookie.status === 200);
  const request_uri = `urn:ietf:params:oauth:request_uri:${value}`;
  const pushedRequest = await ask(`/authorize?${new URLSearchParams({ client_id: C1.id, request_uri })}`, []);
  tried('pushed request', pushedRequest.status < 400);
  return gained;
}

test('no hash or ciphertext from a dump (S-168) is accepted as a token, code, secret, cookie or request', async () => {
  const stored = await storedSecrets();
  const columns = await sql<{ name: string }>(
    attacked.service.database,
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = current_schema()
        and (data_type in ('bytea', 'ARRAY') and udt_name like '%bytea' or column_name like '%\\_hash')`,
  );
  const missing = columns.map(({ name }) => name).filter((name) => !stored.has(name) && !(name in SHOWN_ELSEWHERE));
  expect(missing, 'columns that are neither filled here nor shown elsewhere').toEqual([]);
  const values = new Set(
    [...stored.values()].flat().flatMap((cell) => {
      if (!cell.isBinary) return [cell.value];
      const bytes = Buffer.from(cell.value, 'latin1');
      return [bytes.toString('hex'), bytes.toString('base64url')];
    }),
  );
  const gained: string[] = [];
  for (const value of values) gained.push(...(await present(value)));
  expect(gained).toEqual([]);
});

test('every ciphertext decrypts only in its own row and column', async () => {
  const { core, database } = attacked.service;
  const places: { readonly name: string; readonly sealed: Buffer; readonly boundTo: string }[] = [];
  for (const { name, associatedData, read, start } of SEALED_FIELDS) {
    const rows = await database.rows(read, { after: start });
    const stored = rows.slice(0, 3).map(({ key, sealed }) => ({ name, sealed, boundTo: associatedData(key) }));
    // For fields that these flows leave empty, seals values as the module does.
    const made = [newId(0), newId(0)].map((id) => {
      const boundTo = associatedData(toUuid(id));
      return { name, sealed: core.keyRing.seal('column', 'a secret', boundTo), boundTo };
    });
    places.push(...(stored.length === 0 ? made : stored));
  }
  for (const { name, sealed, boundTo } of places) {
    for (const place of places) {
      const isOpened = core.keyRing.open('column', sealed, place.boundTo) !== undefined;
      expect([name, place.boundTo, isOpened]).toEqual([name, place.boundTo, place.boundTo === boundTo]);
    }
  }
});

test('a secret moved to another client’s row authenticates nothing and is logged', async () => {
  const register = async () => {
    const registered = await attacked.ask({
      method: 'POST',
      target: '/oauth2/registration',
      headers: [['Content-Type', 'application/json']],
      body: JSON.stringify({ client_uri: 'https://app.example/', redirect_uris: [C1.callback] }),
    });
    const [id, secret] = [textMember(registered, 'client_id'), textMember(registered, 'client_secret')];
    secrets.add(secret);
    return { id, secret, callback: C1.callback };
  };
  const [own, foreign] = [await register(), await register()];
  const uuids = [own, foreign].map(({ id }) => toUuid(parseId<'client'>(id) ?? expect.fail('no id')));
  await attacked.change(
    `update oauth2_clients c set client_secret_sealed = o.client_secret_sealed from oauth2_clients o
      where (c.id, o.id) in (($1::uuid, $2::uuid), ($2::uuid, $1::uuid))`,
    uuids,
  );
  for (const secret of [own.secret, foreign.secret]) {
    for (const { id, callback } of [own, foreign]) {
      const response = await attacked.post('/oauth2/introspect', { token: 'x' }, basic({ id, secret, callback }));
      expect(response.status).toBe(500);
      const line = attacked.service.logLines().findLast((text) => text.includes(' ERROR error '));
      expect(line).toContain(`the stored secret of client ${id} cannot be decrypted`);
    }
  }
});

test('a registration token moved to another row is not shown there', async () => {
  const rows = await sql<{ id: string; token_sealed: Buffer }>(
    attacked.service.database,
    'select id, token_sealed from user_registration_tokens order by id limit 2',
  );
  const [own, foreign] = rows;
  const { keyRing } = attacked.service.core;
  expect(openRegistrationToken(keyRing, fromUuid(own?.id ?? ''), own?.token_sealed ?? Buffer.alloc(0))).toMatch(
    /^invited/,
  );
  expect(() =>
    openRegistrationToken(keyRing, fromUuid(own?.id ?? ''), foreign?.token_sealed ?? Buffer.alloc(0)),
  ).toThrow('cannot be decrypted with any configured key');
});
